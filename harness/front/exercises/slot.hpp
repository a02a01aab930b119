// The place in the build where `lab check` puts what it compiles: one for each track, known to CMake
// (harness/CMakeLists.txt), so that an exercise is built like a stage and is none.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/file.hpp"

namespace lab::front {

// What a build came to.
struct slot_build {
  bool built = false;
  std::string error;  // the compiler's first: "exercises/TRACK/NAME/stage.cu:31: error: ..."
};

// Owns the track's place until its end: a second check of the same track waits. Throws environment_error
// where this program was built without the emulator, where its build cannot be written, or where CMake is
// missing.
class exercise_slot {
 public:
  explicit exercise_slot(const std::string& track);

  using command_wrapper = std::function<std::vector<std::string>(const std::vector<std::string>& command)>;

  // Compiles the source, plain and observed at once; `limited` turns the build's command into one that runs
  // within limits. Throws environment_error when the build fails for another reason than the source.
  [[nodiscard]] slot_build build(const std::string& source, std::chrono::milliseconds timeout,
                                 const command_wrapper& limited = {}) const;

  // The stage's path as its workers know it.
  [[nodiscard]] std::string stage() const { return track_ + "/exercise"; }
  // The commands that start them.
  [[nodiscard]] std::vector<std::string> plain() const;
  [[nodiscard]] std::vector<std::string> observed() const;
  // What the built exercise defines in the harness's or the system's place (replaced_symbols.hpp); or empty.
  [[nodiscard]] std::string replaced_function() const;

 private:
  [[nodiscard]] std::filesystem::path worker(const char* backend) const;

  std::string track_;
  std::filesystem::path build_;
  file_descriptor lock_;
};

// The first error in a compiler's output; empty where there is none.
[[nodiscard]] std::string first_compiler_error(const std::string& output);

}  // namespace lab::front
