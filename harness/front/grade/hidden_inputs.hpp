// Inputs that nobody has seen, and what the lab's own stage makes of them: a submission's outputs are
// compared here, in a process that has none of its code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/front/exercises/exercise_file.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {

// What a track's inputs are made of, from stages/TRACK/hidden_inputs.json (docs/grade.md).
class hidden_inputs {
 public:
  // Draws the inputs from `seed` into files of `folder`, and has the lab's own stage work on them. Throws
  // usage_error for a file that is not as it should be, and environment_error where the stage fails.
  hidden_inputs(const exercise& exercise, const std::map<std::string, std::string>& sizes, std::uint64_t seed,
                const std::filesystem::path& folder);

  // The requests "apply" that a submission's worker, as `stage`, has to answer, with its outputs in `folder`.
  [[nodiscard]] std::vector<nlohmann::json> requests(const std::string& stage,
                                                     const std::filesystem::path& folder) const;
  // What is wrong in the outputs that request number `which` has left in `folder`; empty when nothing is.
  // Floating-point numbers may differ by their rounding, all else is compared byte by byte.
  [[nodiscard]] std::string fault_in(std::size_t which, const std::filesystem::path& folder) const;

 private:
  struct one_case {
    parameter_values parameters;
    std::vector<std::string> inputs;
    std::string expected;  // a file
    std::string output;    // its name
  };
  std::vector<one_case> cases_;
};

// What differs between two .npy files of one type and shape, in words; empty where nothing does. A value may
// be off by 1e-9 (float64) or 1e-4 (float32) of the largest one, and a NaN must be one. Throws file_error.
[[nodiscard]] std::string array_difference(const std::filesystem::path& found,
                                           const std::filesystem::path& expected);

}  // namespace lab::front
