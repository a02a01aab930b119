#include "harness/front/grade/replaced_symbols.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>

#include "common/emulator/core/elf_file.hpp"
#include "common/file.hpp"

namespace lab::front {
namespace {

using names = std::set<std::string, std::less<>>;

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
  const std::string bytes = read_text(path);
  const elf_file file(bytes);
  for (const elf_file::section& table : file.sections()) {
    if (table.header.sh_type == SHT_DYNAMIC) {
      for (const auto& entry : elf_file::entries<Elf64_Dyn>(table.contents)) {
        if (entry.d_tag == DT_NEEDED)
          found.libraries.emplace(file.text(table.header.sh_link, entry.d_un.d_val));
      }
    }
    const bool is_dynamic = table.header.sh_type == SHT_DYNSYM;
    if (!is_dynamic && table.header.sh_type != SHT_SYMTAB) continue;
    for (const auto& [whole, entry] : file.symbols(table)) {
      const int binding = ELF64_ST_BIND(entry.st_info);
      const int type = ELF64_ST_TYPE(entry.st_info);
      if (binding == STB_LOCAL || type == STT_OBJECT || type == STT_TLS) continue;
      const std::string name(whole.substr(0, whole.find('@')));
      if (name.empty()) continue;
      if (entry.st_shndx == SHN_UNDEF) {
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

}  // namespace

std::string replaced_function(const std::string& stage_path, const std::string& track_path) {
  try {
    const program_functions stage = functions_of(stage_path);
    const program_functions track = functions_of(track_path);
    if (track.imported.empty()) return "";
    for (const std::string& name : stage.strong) {
      if (track.weak.contains(name) || track.imported.contains(name)) return demangled(name.c_str());
    }
    for (const std::string& name : stage.weak) {
      if (is_plain(name) && track.imported.contains(name)) return demangled(name.c_str());
    }
    // A library that the stage alone is linked with may bring in more of the C++ library than the track has.
    const bool links_more = !std::includes(track.libraries.begin(), track.libraries.end(),
                                           stage.libraries.begin(), stage.libraries.end());
    for (const std::string& name : stage.exported) {
      const bool is_runtime = links_more && (is_of_runtime(name) || track.strong.contains(name));
      if (!track.exported.contains(name) && !is_runtime) return demangled(name.c_str());
    }
  } catch (const std::runtime_error&) {
    // What cannot be read, or is no program, cannot be started either, which is told there.
  }
  return "";
}

}  // namespace lab::front
