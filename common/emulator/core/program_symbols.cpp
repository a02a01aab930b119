#include "common/emulator/core/program_symbols.hpp"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>

#include "common/emulator/core/elf_file.hpp"

namespace lab::emulator {

namespace {

struct tables {
  std::vector<program_symbol> symbols;
  std::vector<device_variable> variables;  // by address
  std::vector<memory_range> writable;      // sections
  std::vector<memory_range> own;           // variables of the program, as linked
  std::vector<memory_range> virtual_tables;
};

// Of a variable, by its mangled name: the emulator's and the library's change while kernels run.
bool is_the_programs(const std::string& name) {
  constexpr std::string_view others[] = {"_ZN3lab8emulator",
                                         "_ZNK3lab8emulator",
                                         "_ZZN3lab8emulator",
                                         "_ZZNK3lab8emulator",
                                         "_ZGV",
                                         "_ZSt",
                                         "_ZNSt",
                                         "_ZZSt",
                                         "_ZZNSt"};
  return std::none_of(std::begin(others), std::end(others),
                      [&name](std::string_view other) { return name.starts_with(other); });
}

// The program's own, mapped: few of its pages are looked at.
std::shared_ptr<const char> own_file(std::size_t& bytes) {
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat about = {};
  void* memory = MAP_FAILED;
  if (fstat(file, &about) == 0) {
    bytes = static_cast<std::size_t>(about.st_size);
    memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  }
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<const char*>(memory), [memory, bytes](const char*) { munmap(memory, bytes); }};
}

// Kernels are mostly local to their file, so dladdr() does not know them; the symbol table does.
tables read_tables() {
  tables found;
  std::size_t bytes = 0;
  const std::shared_ptr<const char> image = own_file(bytes);
  if (image == nullptr) return found;
  const elf_file program({image.get(), bytes});
  // Sections that kernels can write to: not those of thread-local variables, nor those which the loader has
  // closed, nor constant memory.
  const auto& sections = program.sections();
  std::vector<bool> is_writable(sections.size()), holds_variables(sections.size());
  for (std::size_t number = 0; number < sections.size(); ++number) {
    const auto& [name, header, contents] = sections[number];
    is_writable[number] = (header.sh_flags & SHF_WRITE) != 0 && (header.sh_flags & SHF_TLS) == 0 &&
                          (name.starts_with(".data") || name.starts_with(".bss")) &&
                          !name.starts_with(".data.rel.ro");
    if (is_writable[number]) found.writable.push_back({header.sh_addr, header.sh_size});
    holds_variables[number] =
        is_writable[number] || ((header.sh_flags & SHF_WRITE) != 0 && name.starts_with("lab_constant_"));
  }
  for (const elf_file::section& section : sections) {
    if (section.header.sh_type != SHT_SYMTAB) continue;
    for (const auto& [view, symbol] : program.symbols(section)) {
      const auto type = symbol.st_info & 0xf;
      const std::string name(view);
      if (type == STT_FUNC || type == STT_TLS) {
        found.symbols.push_back({name, symbol.st_value, symbol.st_size, type == STT_FUNC});
        continue;
      }
      if (type != STT_OBJECT || symbol.st_size == 0 || symbol.st_shndx >= sections.size()) continue;
      if (holds_variables[symbol.st_shndx] && is_the_programs(name))
        found.own.push_back({symbol.st_value, symbol.st_size});
      if (name.starts_with("_ZTV")) found.virtual_tables.push_back({symbol.st_value, symbol.st_size});
      if (is_writable[symbol.st_shndx])
        found.variables.push_back({symbol.st_value, symbol.st_size, demangled(name.c_str())});
    }
  }
  std::sort(found.variables.begin(), found.variables.end(),
            [](const device_variable& a, const device_variable& b) { return a.begin < b.begin; });
  return found;
}

const tables& the_tables() {
  static const tables& all = *new tables(read_tables());
  return all;
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

std::vector<memory_range> as_loaded(std::vector<memory_range> ranges) {
  for (memory_range& one : ranges) one.begin += load_address();
  return ranges;
}

}  // namespace

const std::vector<program_symbol>& program_symbols() {
  return the_tables().symbols;
}

const std::vector<memory_range>& program_variables() {
  static const std::vector<memory_range> loaded = as_loaded(the_tables().own);
  return loaded;
}

const std::vector<memory_range>& virtual_tables() {
  static const std::vector<memory_range> loaded = as_loaded(the_tables().virtual_tables);
  return loaded;
}

const device_variable* find_device_variable(std::uintptr_t address) {
  const tables& all = the_tables();
  const auto holds = [address](const memory_range& one) { return address - one.begin < one.bytes; };
  if (std::none_of(all.writable.begin(), all.writable.end(), holds)) return nullptr;
  const auto after =
      std::upper_bound(all.variables.begin(), all.variables.end(), address,
                       [](std::uintptr_t value, const device_variable& one) { return value < one.begin; });
  return after == all.variables.begin() ? nullptr : &*std::prev(after);
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

namespace {

// A variable within a function is mangled as _ZZ, the function's own name without its _Z, E, and its name.
std::vector<shared_variable> find(const std::string& kernel) {
  std::vector<shared_variable> found;
  if (!kernel.starts_with("_Z")) return found;
  const std::string prefix = "_Z" + kernel.substr(1) + "E";
  for (const program_symbol& symbol : program_symbols()) {
    if (!symbol.is_function && symbol.name.starts_with(prefix)) found.push_back({symbol.value, symbol.bytes});
  }
  return found;
}

}  // namespace

std::span<const shared_variable> shared_variables(const void* kernel) {
  static std::mutex mutex;
  static std::map<const void*, std::vector<shared_variable>> known;
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = known.try_emplace(kernel);
  if (is_new) entry->second = find(mangled_name(kernel));
  return entry->second;
}

bool is_of_emulator(const program_symbol& variable) {
  // _ZN.., of a function _ZZN.. or _ZZNK.., of its guard _ZGVZN..: behind that is the outermost namespace.
  // The types of the function's parameters, which may be the emulator's, come later.
  std::string_view name = variable.name;
  for (const std::string_view mark : {"_Z", "GV", "Z", "Z", "N", "K"}) {
    if (name.starts_with(mark)) name.remove_prefix(mark.size());
  }
  return name.starts_with("3lab8emulator") && name.find("3cub") == std::string_view::npos;
}

std::span<const shared_variable> all_shared_variables() {
  static const std::vector<shared_variable> all = [] {
    std::vector<shared_variable> found;
    for (const program_symbol& symbol : program_symbols()) {
      // A variable of a function whose name is not mangled is "tile.0" or "function.tile".
      const bool is_local = symbol.name.starts_with("_ZZ") ||
                            (!symbol.name.starts_with("_Z") && symbol.name.find('.') != std::string::npos);
      if (!symbol.is_function && is_local && !is_of_emulator(symbol))
        found.push_back({symbol.value, symbol.bytes});
    }
    return found;
  }();
  return all;
}

}  // namespace lab::emulator
