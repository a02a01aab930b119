#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "common/emulator/diagnostics.hpp"

namespace lab::emulator {
namespace {

// Kernels are mostly local to their file, so dladdr() does not know them; the symbol table of the executable
// does. Maps a function's address, as linked, to its mangled name.
std::map<std::uintptr_t, std::string> read_function_symbols() {
  std::map<std::uintptr_t, std::string> symbols;
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  const auto read = [&image](std::size_t offset, auto& value) {
    if (offset > image.size() || sizeof value > image.size() - offset) return false;
    std::memcpy(&value, image.data() + offset, sizeof value);
    return true;
  };
  ElfW(Ehdr) header;
  if (!read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return symbols;
  for (std::size_t number = 0; number < header.e_shnum; ++number) {
    ElfW(Shdr) section, names;
    if (!read(header.e_shoff + number * header.e_shentsize, section) || section.sh_type != SHT_SYMTAB)
      continue;
    if (!read(header.e_shoff + std::size_t{section.sh_link} * header.e_shentsize, names)) continue;
    for (std::size_t entry = 0; entry < section.sh_size / sizeof(ElfW(Sym)); ++entry) {
      ElfW(Sym) symbol;
      if (!read(section.sh_offset + entry * sizeof symbol, symbol)) break;
      if ((symbol.st_info & 0xf) != STT_FUNC) continue;
      const std::size_t name = names.sh_offset + symbol.st_name;
      if (name < image.size()) symbols.emplace(symbol.st_value, image.data() + name);
    }
  }
  return symbols;
}

std::uintptr_t executable_load_address() {
  std::uintptr_t address = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* result) {
        *static_cast<std::uintptr_t*>(result) = module->dlpi_addr;
        return 1;  // the first module is the executable
      },
      &address);
  return address;
}

// "void lab::copy<int>(int const*, int*)" -> "lab::copy<int>"
std::string without_signature(std::string name) {
  if (name.ends_with(')')) {
    std::size_t depth = 0;
    for (std::size_t position = name.size(); position-- > 0;) {
      if (name[position] == ')') ++depth;
      if (name[position] == '(' && --depth == 0) {
        name.resize(position);
        break;
      }
    }
  }
  if (name.starts_with("void ")) name.erase(0, 5);
  return name;
}

}  // namespace

std::string kernel_name(const void* kernel) {
  static const std::map<std::uintptr_t, std::string> symbols = read_function_symbols();
  static const std::uintptr_t load_address = executable_load_address();
  const auto found = symbols.find(reinterpret_cast<std::uintptr_t>(kernel) - load_address);
  if (found == symbols.end()) return "kernel";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(found->second.c_str(), nullptr, nullptr, &status), std::free);
  return plain ? without_signature(plain.get()) : found->second;
}

}  // namespace lab::emulator
