// The folder of the build where `lab check` puts what it compiles: one for each track, known to CMake
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
  std::string error;       // the compiler's first: "exercises/TRACK/NAME/stage.cu:31: error: ..."
  std::size_t column = 0;  // of that line, tabs as spaces; 0 where the compiler names none
};

// Owns the track's folder until its end: a second check of the same track waits. Throws environment_error
// where this program was built without the emulator, where its build cannot be written, or where CMake is
// missing.
class exercise_slot {
 public:
  // `sealed`: for a submission that is graded, whose workers are harness/grade's programs.
  explicit exercise_slot(const std::string& track, bool sealed = false);

  using command_wrapper = std::function<std::vector<std::string>(const std::vector<std::string>& command)>;

  // How a submission is compiled, and what is said of its program beside that of its track; nothing, where it
  // may be started.
  struct submission_terms {
    command_wrapper limited;
    std::function<std::string(const std::string& program, const std::string& of_track)> fault;
  };

  // What is built at once: the emulator's workers, plain and observed, or the GPU's.
  enum class part { emulator, gpu };

  // Compiles the source; `limited` turns the build's command into one that runs within limits. Throws
  // environment_error when the build fails for another reason than the source.
  [[nodiscard]] slot_build build(part what, const std::string& source, std::chrono::milliseconds timeout,
                                 const command_wrapper& limited = {}) const;
  // The same of a submission: one that ends its compiler otherwise than by an error fails, unless the lab's
  // own `solution` does so as well.
  [[nodiscard]] slot_build build_submission(part what, const std::string& source, const std::string& solution,
                                            const submission_terms& terms) const;

  // The stage's path as its workers know it.
  [[nodiscard]] std::string stage() const { return track_ + "/exercise"; }
  // The programs of the plain worker and of the observed one.
  [[nodiscard]] std::string worker(part what) const;
  [[nodiscard]] std::string observed_worker() const;

 private:
  [[nodiscard]] std::filesystem::path workers() const;

  std::string track_;
  bool sealed_;
  std::filesystem::path build_;
  file_descriptor lock_;
};

// The first error in a compiler's output; empty where there is none. Its column, where one is named.
[[nodiscard]] std::string first_compiler_error(const std::string& output, std::size_t* column = nullptr);

// What to write in `source` for the words in it that nvcc alone knows; empty, or for the end of a message.
[[nodiscard]] std::string words_of_nvcc(const std::string& source);

}  // namespace lab::front
