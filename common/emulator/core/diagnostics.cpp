#include "common/emulator/core/diagnostics.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "common/emulator/core/elf_file.hpp"
#include "common/emulator/core/emulator.hpp"
#include "common/emulator/core/never_destroyed.hpp"
#include "common/emulator/core/program_symbols.hpp"
#include "common/emulator/core/source_lines.hpp"

namespace lab::emulator {
namespace {

class diagnostic_log {
 public:
  ~diagnostic_log() {
    for (const std::string& text : texts_) std::fprintf(stderr, "emulator: %s\n", text.c_str());
  }

  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (std::find(texts_.begin(), texts_.end(), text) == texts_.end()) texts_.push_back(text);
  }

  std::vector<std::string> copy() {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(texts_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;
};

diagnostic_log& the_log() {
  static diagnostic_log log;
  return log;
}

}  // namespace

void add_diagnostic(const std::string& text) {
  the_log().add(text);
}
void add_diagnostic_of_call(const std::string& text) {
  add_diagnostic(text_of_call() + text);
}
std::vector<std::string> diagnostics() {
  return the_log().copy();
}
std::vector<std::string> take_diagnostics() {
  return the_log().take();
}

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
  return without_signature(demangled(mangled.c_str()));
}

}  // namespace lab::emulator
