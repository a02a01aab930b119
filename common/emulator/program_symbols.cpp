#include "common/emulator/program_symbols.hpp"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

namespace lab::emulator {
namespace {

// Kernels are mostly local to their file, so dladdr() does not know them; the symbol table does.
std::vector<program_symbol> read_symbols() {
  std::vector<program_symbol> symbols;
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
      const auto type = symbol.st_info & 0xf;
      const std::size_t name = names.sh_offset + symbol.st_name;
      if ((type != STT_FUNC && type != STT_TLS) || name >= image.size()) continue;
      symbols.push_back({image.data() + name, symbol.st_value, symbol.st_size, type == STT_FUNC});
    }
  }
  return symbols;
}

// The first module is the executable.
std::uintptr_t load_address() {
  std::uintptr_t address = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* result) {
        *static_cast<std::uintptr_t*>(result) = module->dlpi_addr;
        return 1;
      },
      &address);
  return address;
}

}  // namespace

const std::vector<program_symbol>& program_symbols() {
  static const std::vector<program_symbol> symbols = read_symbols();
  return symbols;
}

const std::string& mangled_name(const void* function) {
  static const std::map<std::uintptr_t, const std::string*> names = [] {
    std::map<std::uintptr_t, const std::string*> by_address;
    for (const program_symbol& symbol : program_symbols()) {
      if (symbol.is_function) by_address.emplace(symbol.value, &symbol.name);
    }
    return by_address;
  }();
  static const std::uintptr_t loaded_at = load_address();
  static const std::string unknown;
  const auto found = names.find(reinterpret_cast<std::uintptr_t>(function) - loaded_at);
  return found == names.end() ? unknown : *found->second;
}

thread_local_range thread_local_memory() {
  thread_local_range found;
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* result) {
        for (int number = 0; number < module->dlpi_phnum; ++number) {
          if (module->dlpi_phdr[number].p_type != PT_TLS) continue;
          *static_cast<thread_local_range*>(result) = {
              reinterpret_cast<std::uintptr_t>(module->dlpi_tls_data), module->dlpi_phdr[number].p_memsz};
        }
        return 1;
      },
      &found);
  return found;
}

}  // namespace lab::emulator
