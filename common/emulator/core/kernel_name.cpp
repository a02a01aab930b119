#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/never_destroyed.hpp"
#include "common/emulator/core/program_symbols.hpp"

namespace lab::emulator {
namespace {

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

struct given_names {
  std::mutex mutex;
  std::map<const void*, std::string> names;
};
given_names& given() {
  static never_destroyed<given_names> one;
  return *one;
}

}  // namespace

void name_kernel(const void* kernel, const char* name) {
  const std::lock_guard lock(given().mutex);
  given().names.try_emplace(kernel, name);
}

std::string kernel_name(const void* kernel) {
  {
    const std::lock_guard lock(given().mutex);
    if (const auto found = given().names.find(kernel); found != given().names.end()) return found->second;
  }
  const std::string& mangled = mangled_name(kernel);
  if (mangled.empty()) return "kernel";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return plain ? without_signature(plain.get()) : mangled;
}

}  // namespace lab::emulator
