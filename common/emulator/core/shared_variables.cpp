#include "common/emulator/core/shared_variables.hpp"

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/emulator/core/program_symbols.hpp"

namespace lab::emulator {
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
