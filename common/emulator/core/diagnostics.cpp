#include "common/emulator/core/diagnostics.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "common/emulator/core/emulator.hpp"
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

}  // namespace lab::emulator
