// A problem of arrays behind virtual functions: what the harness, which is compiled once, asks of one whose
// parameters and elements have types of their own. typed_problem.hpp implements all of it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/gpu_group.hpp"
#include "common/npy.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/host_values.hpp"
#include "harness/device/stage.hpp"
#include "harness/device/track.hpp"

namespace lab {

// What inputs are made of: a pattern and a seed, or a person's own values.
struct input_source {
  pattern kind = pattern::random;
  std::uint64_t seed = 0;
  const host_arrays* own = nullptr;
};

// What one GPU has of the arrays.
struct array_parts {
  std::vector<part> inputs;
  part output;
};

// What a launch is given: the arrays of one GPU, or of each of a group; on a single GPU scratch memory, too.
struct launch_arguments {
  struct arrays {
    std::vector<void*> inputs;
    void* output = nullptr;
  };
  std::vector<arrays> gpus;
  workspace scratch;
  const gpu_group* group = nullptr;
  cudaStream_t stream = nullptr;
};

// A stage with what it has prepared for its parameters.
struct prepared_launch {
  std::size_t workspace_bytes = 0;
  double nanoseconds = 0;  // that the preparation took; 0: there was none
  std::function<void(const launch_arguments& arguments)> enqueue;
};

// What the problem, its track and its stage say of these parameters.
struct problem_facts {
  array_layout layout;
  double relative_error = 0;
  pattern random_input = pattern::random;
  bool is_exact = true;  // these, down to drift_error: array_hooks.hpp
  double exact_unit = 0;
  double exact_error = 0;
  bool streams = true;
  bool keeps_zero_signs = false;
  double drift_error = 0;
  bool has_exact_outputs = false;  // these: reference_hook
  bool has_stream = false;
  bool has_reference_run = false;
  std::int64_t gpus = 1;       // over which the arrays are spread
  bool is_replicated = false;  // every GPU has the same output, bit for bit
  std::string name;            // of the problem and its elements, as the compiler has it
  std::string key;             // of its parameters: those of one key have the same results
  const void* stage = nullptr;
  std::int64_t tile = 1;
  lab::traits traits;
};

// What typed_problem.hpp needs of them: one GPU that has all, and a layout with its types.
array_parts all_of(const array_layout& layout);
array_layout with_types(array_layout layout, element_type output, std::initializer_list<element_type> inputs);

// Is given what a reference says of outputs first, first + 1 and so on, some at a time.
using take_expectations =
    std::function<void(std::int64_t first, const expectation* expected, std::int64_t count)>;
// Likewise, their exact keys (kernels.hpp).
using take_keys = std::function<void(std::int64_t first, const std::uint64_t* keys, std::int64_t count)>;

// A problem with parameters, and the stage that is to run, if any.
class bound_problem {
 public:
  virtual ~bound_problem() = default;

  [[nodiscard]] virtual problem_facts facts() const = 0;
  [[nodiscard]] virtual array_layout layout() const = 0;
  [[nodiscard]] virtual double drift_scale(double largest) const = 0;
  [[nodiscard]] virtual std::string remark(double smallest) const = 0;

  // What GPU k of the group has of the one input and of the output; of a problem that is not spread, all.
  [[nodiscard]] virtual array_parts parts(std::int64_t k) const = 0;

  // The stage's own functions (stage.hpp).
  [[nodiscard]] virtual std::string unsupported() const = 0;
  [[nodiscard]] virtual std::size_t requested_workspace() const = 0;
  [[nodiscard]] virtual std::optional<double> declared_error() const = 0;
  // Says which block and thread compute the output, where the stage can tell.
  virtual void add_owner(failure_record& failure) const = 0;
  [[nodiscard]] virtual prepared_launch prepare(cudaStream_t stream) const = 0;

  // What the reference says of outputs indices[k], to[k]; for one thread.
  virtual void references(const input_source& source, const std::int64_t* indices, std::int64_t count,
                          expectation* to) const = 0;
  // A function of (first, count, take), for one thread each, that gives outputs one after another: of a
  // problem with stream(), or with a reference_run, to which `first` is a multiple of `piece` below n.
  using ordered_references =
      std::function<void(std::int64_t first, std::int64_t count, const take_expectations& take)>;
  [[nodiscard]] virtual ordered_references in_order(const input_source& source, std::int64_t n,
                                                    std::int64_t piece) const = 0;
  // Of a reference_run: output i, where it needs at most `most` inputs.
  [[nodiscard]] virtual std::optional<expectation> near(const input_source& source, std::int64_t i,
                                                        std::int64_t most) const = 0;
  // Of generated inputs.
  virtual void exact_keys(const input_source& source, std::int64_t first, std::int64_t count,
                          const take_keys& take) const = 0;
};

// What a problem and its track say whatever the parameters are.
struct array_track_facts {
  track_description description;
  parameter_values apply_defaults;
  array_ceiling ceiling = array_ceiling::copy;
  bool is_spread = false;
  bool has_exact_cases = false;
  bool goes_back = false;  // outputs depend on inputs as far back as there are values that count
  // These two: array_hooks.hpp
  parameter_values (*parameters_of_files)(const std::vector<npy_header>& headers,
                                          const std::vector<std::string>& paths) = nullptr;
  void (*stand_in_for)(const std::map<std::string, std::string>& texts, parameter_values& values) = nullptr;
};

// A problem, and what its track says beside it (array_hooks.hpp), as functions of parameters by their names.
class any_array_problem {
 public:
  virtual ~any_array_problem() = default;

  [[nodiscard]] virtual array_track_facts facts() const = 0;
  [[nodiscard]] virtual std::string why_invalid(const parameter_values& values) const = 0;
  [[nodiscard]] virtual parameter_values fitted(const parameter_values& values,
                                                const parameter_values& before) const = 0;
  [[nodiscard]] virtual std::vector<parameter_values> alternatives(const parameter_values& values,
                                                                   pattern input) const = 0;
  [[nodiscard]] virtual std::vector<trial> cases(std::int64_t tile, bool thorough,
                                                 std::uint64_t seed) const = 0;
  [[nodiscard]] virtual std::vector<exact_case> exact_cases(const parameter_values& values, std::int64_t tile,
                                                            std::uint64_t seed) const = 0;
  virtual void draw(const std::string& path, const parameter_values& values, const std::vector<float>& image,
                    bool is_difference) const = 0;

  // Outputs of a block, as the stage says.
  [[nodiscard]] virtual std::int64_t tile_of(const stage_entry& stage) const = 0;
  // `stage` may be nullptr; it outlives what is returned, as this does.
  [[nodiscard]] virtual std::unique_ptr<bound_problem> bind(
      const stage_entry* stage, const parameter_values& values,
      const std::map<std::string, std::string>& texts = {}) const = 0;
  // With the launch of what is right of a person's own function instead of the stage's.
  [[nodiscard]] virtual std::unique_ptr<bound_problem> bind_right(
      const parameter_values& values, const std::map<std::string, std::string>& texts) const = 0;
};

}  // namespace lab
