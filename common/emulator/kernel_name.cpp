#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "common/emulator/diagnostics.hpp"
#include "common/emulator/program_symbols.hpp"

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

}  // namespace

std::string kernel_name(const void* kernel) {
  const std::string& mangled = mangled_name(kernel);
  if (mangled.empty()) return "kernel";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return plain ? without_signature(plain.get()) : mangled;
}

}  // namespace lab::emulator
