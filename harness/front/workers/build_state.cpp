#include "harness/front/workers/build_state.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "harness/front/process/errors.hpp"
#include "harness/front/process/interrupt.hpp"

namespace lab::front {

namespace {

// The file; null where nobody builds.
const char* state_file() {
  const char* const path = std::getenv("LAB_BUILD_STATE");
  return path == nullptr || *path == '\0' ? nullptr : path;
}

}  // namespace

bool is_being_built() {
  return state_file() != nullptr;
}

void wait_until_built(const std::string& track) {
  constexpr std::chrono::milliseconds between_looks{50};
  const char* const path = state_file();
  if (path == nullptr) return;
  const std::string wanted = "built " + track;
  while (true) {
    std::ifstream file(path);
    bool has_failed = !file;
    for (std::string line; std::getline(file, line);) {
      if (line == wanted) return;
      has_failed = has_failed || line == "failed";
    }
    if (has_failed) throw environment_error(fmt::format("{} could not be built", track));
    if (was_interrupted()) throw interrupted();
    std::this_thread::sleep_for(between_looks);
  }
}

}  // namespace lab::front
