// The sections and symbols of an ELF file of 64 bits. What lies beyond the file's end throws
// std::runtime_error.
#pragma once

#include <cxxabi.h>
#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

// A symbol's name, or a type's, as it is written in C++; of what is not mangled itself.
inline std::string demangled(const char* symbol) {
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr),
                                                     std::free);
  return plain ? plain.get() : symbol;
}

class elf_file {
 public:
  struct section {
    std::string_view name;
    Elf64_Shdr header;
    std::string_view contents;
  };
  struct symbol {
    std::string_view name;
    Elf64_Sym entry;
  };

  // The bytes stay the caller's.
  explicit elf_file(std::string_view bytes) : bytes_(bytes) {
    header_ = entries<Elf64_Ehdr>(part(0, sizeof header_)).front();
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_ident[EI_CLASS] != ELFCLASS64)
      throw std::runtime_error("it is no ELF file of 64 bits");
    sections_.resize(header_.e_shnum);
    for (std::size_t number = 0; number < sections_.size(); ++number) {
      section& one = sections_[number];
      const std::uint64_t at = header_.e_shoff + number * header_.e_shentsize;
      one.header = entries<Elf64_Shdr>(part(at, sizeof one.header)).front();
      if (one.header.sh_type != SHT_NOBITS && one.header.sh_type != SHT_NULL)
        one.contents = part(one.header.sh_offset, one.header.sh_size, "a section lies beyond its end");
    }
    for (section& one : sections_) one.name = text(header_.e_shstrndx, one.header.sh_name);
  }

  [[nodiscard]] const Elf64_Ehdr& header() const { return header_; }
  [[nodiscard]] const std::vector<section>& sections() const { return sections_; }

  // The whole entries of a table.
  template <class Entry>
  static std::vector<Entry> entries(std::string_view contents) {
    std::vector<Entry> all(contents.size() / sizeof(Entry));
    std::memcpy(all.data(), contents.data(), all.size() * sizeof(Entry));
    return all;
  }
  [[nodiscard]] std::vector<symbol> symbols(const section& table) const {
    std::vector<symbol> all;
    for (const auto& entry : entries<Elf64_Sym>(table.contents))
      all.push_back({text(table.header.sh_link, entry.st_name), entry});
    return all;
  }
  // At an offset of a section of names.
  [[nodiscard]] std::string_view text(std::size_t number, std::size_t offset) const {
    if (number >= sections_.size()) throw std::runtime_error("its sections have no names");
    const std::string_view names = sections_[number].contents;
    const std::size_t end = names.find('\0', offset);
    if (end == std::string_view::npos) throw std::runtime_error("a name has no end");
    return names.substr(offset, end - offset);
  }

 private:
  [[nodiscard]] std::string_view part(std::uint64_t offset, std::uint64_t size,
                                      const char* otherwise = "it ends early") const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) throw std::runtime_error(otherwise);
    return bytes_.substr(offset, size);
  }

  std::string_view bytes_;
  Elf64_Ehdr header_{};
  std::vector<section> sections_;
};

}  // namespace lab
