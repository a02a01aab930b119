#include "harness/front/grade/replaced_symbols.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>

#include "common/file.hpp"

namespace lab::front {
namespace {

using names = std::set<std::string, std::less<>>;

// A program's file in memory, to be read.
class mapped_file {
 public:
  explicit mapped_file(const std::string& path) {
    const file_descriptor file = open_to_read(path);
    struct stat about {};
    if (fstat(file.get(), &about) != 0 || about.st_size <= 0) return;
    size_ = static_cast<std::size_t>(about.st_size);
    void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (mapped != MAP_FAILED) data_ = static_cast<const char*>(mapped);
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  }

  // `count` objects at `offset`; null where the file ends before them.
  template <class T>
  [[nodiscard]] const T* at(std::uint64_t offset, std::uint64_t count = 1) const {
    if (data_ == nullptr || offset > size_ || count > (size_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(data_ + offset);
  }
  // The text at `offset`, which ends within the file.
  [[nodiscard]] std::string_view text(std::uint64_t offset) const {
    if (data_ == nullptr || offset >= size_) return {};
    return {data_ + offset, strnlen(data_ + offset, size_ - offset)};
  }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

// Functions of a program, by how it has them.
struct program_functions {
  names strong;
  names weak;
  names imported;
  names exported;   // strong ones that system libraries see
  names libraries;  // shared ones that the program was linked with
};

program_functions functions_of(const std::string& path) {
  program_functions found;
  const mapped_file file(path);
  const auto* const header = file.at<ElfW(Ehdr)>(0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return found;
  const auto* const sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
  if (sections == nullptr) return found;
  for (int number = 0; number < header->e_shnum; ++number) {
    const ElfW(Shdr)& table = sections[number];
    if (table.sh_type == SHT_DYNAMIC && table.sh_link < header->e_shnum) {
      const std::uint64_t count = table.sh_size / sizeof(ElfW(Dyn));
      const auto* const entries = file.at<ElfW(Dyn)>(table.sh_offset, count);
      for (std::uint64_t k = 0; entries != nullptr && k < count; ++k) {
        if (entries[k].d_tag == DT_NEEDED)
          found.libraries.emplace(file.text(sections[table.sh_link].sh_offset + entries[k].d_un.d_val));
      }
    }
    const bool is_dynamic = table.sh_type == SHT_DYNSYM;
    if ((!is_dynamic && table.sh_type != SHT_SYMTAB) || table.sh_link >= header->e_shnum) continue;
    const std::uint64_t count = table.sh_size / sizeof(ElfW(Sym));
    const auto* const symbols = file.at<ElfW(Sym)>(table.sh_offset, count);
    if (symbols == nullptr) continue;
    for (std::uint64_t k = 0; k < count; ++k) {
      const int binding = ELF64_ST_BIND(symbols[k].st_info);
      const int type = ELF64_ST_TYPE(symbols[k].st_info);
      if (binding == STB_LOCAL || type == STT_OBJECT || type == STT_TLS) continue;
      const std::string_view whole = file.text(sections[table.sh_link].sh_offset + symbols[k].st_name);
      const std::string name(whole.substr(0, whole.find('@')));
      if (name.empty()) continue;
      if (symbols[k].st_shndx == SHN_UNDEF) {
        found.imported.insert(name);
      } else if (binding == STB_GLOBAL) {
        (is_dynamic ? found.exported : found.strong).insert(name);
      } else {
        found.weak.insert(name);
      }
    }
  }
  return found;
}

// A function of C, or C++'s operators new and delete: what no template of the library's headers becomes.
bool is_plain(std::string_view name) {
  return !name.starts_with("_Z") || name.starts_with("_Zn") || name.starts_with("_Zd");
}

// A name of the C++ runtime's own, such as a linker puts into a program beside a shared library that has it
// too.
bool is_of_runtime(std::string_view name) {
  for (const std::string_view beginning :
       {"_ZNSt", "_ZNKSt", "_ZSt", "_ZGTt", "_ZN10__cxxabiv1", "_ZNK10__cxxabiv1", "_ZN9__gnu_cxx",
        "_ZNK9__gnu_cxx", "__cxa_", "__gxx_"})
    if (name.starts_with(beginning)) return true;
  return false;
}

std::string demangled(const std::string& name) {
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr), &std::free);
  return text ? text.get() : name;
}

}  // namespace

std::string replaced_function(const std::string& stage_path, const std::string& track_path) {
  try {
    const program_functions stage = functions_of(stage_path);
    const program_functions track = functions_of(track_path);
    if (track.imported.empty()) return "";
    for (const std::string& name : stage.strong) {
      if (track.weak.contains(name) || track.imported.contains(name)) return demangled(name);
    }
    for (const std::string& name : stage.weak) {
      if (is_plain(name) && track.imported.contains(name)) return demangled(name);
    }
    // A library that the stage alone is linked with may bring in more of the C++ library than the track has.
    const bool links_more = !std::includes(track.libraries.begin(), track.libraries.end(),
                                           stage.libraries.begin(), stage.libraries.end());
    for (const std::string& name : stage.exported) {
      const bool is_runtime = links_more && (is_of_runtime(name) || track.strong.contains(name));
      if (!track.exported.contains(name) && !is_runtime) return demangled(name);
    }
  } catch (const file_error&) {
    // What cannot be read cannot be started either, which is told there.
  }
  return "";
}

}  // namespace lab::front
