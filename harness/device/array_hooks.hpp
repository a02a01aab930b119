// What a problem of arrays may say beside what it must (array_problem.hpp), and what holds where it says
// nothing. A track's registration names what it says, as a stage's does:
//
//   const array_track_registration<problem> registered{LAB_PATH, {.why_invalid = why_invalid}};
//
// A name that is none, or a function of another type, does not compile. No source of a stage is told any of
// it.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/npy.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/stage.hpp"
#include "harness/device/track.hpp"

namespace lab {

// The shape of a file that must have so many dimensions.
template <std::size_t dimensions>
std::array<std::int64_t, dimensions> extents(const npy_header& header, const std::string& path) {
  if (header.shape.size() != dimensions) {
    throw usage_error(path + ": an array of " + std::to_string(dimensions) +
                      (dimensions == 1 ? " dimension" : " dimensions") + " is needed, not one of " +
                      std::to_string(header.shape.size()));
  }
  std::array<std::int64_t, dimensions> shape{};
  std::copy(header.shape.begin(), header.shape.end(), shape.begin());
  return shape;
}

// n, the size of the only dimension of the first file.
parameter_values n_of_file(const std::vector<npy_header>& headers, const std::vector<std::string>& paths);
// And `type`, as it is called: "float64", "int64", or else "float32".
parameter_values n_and_type_of_file(const std::vector<npy_header>& headers,
                                    const std::vector<std::string>& paths);
// rows and columns, the sizes of the two dimensions of the first file.
parameter_values rows_and_columns_of_file(const std::vector<npy_header>& headers,
                                          const std::vector<std::string>& paths);

// exact_cases of these patterns, whatever the parameters.
template <pattern... kinds>
std::vector<exact_case> exact_with(const auto& /*p*/, std::int64_t /*tile*/, std::uint64_t /*seed*/) {
  return {exact_case{kinds}...};
}

template <class Problem>
struct array_hooks {
  using parameters = typename Problem::parameters;

  // ---- parameters

  // Why they make no sense together; empty when they do.
  std::string (*why_invalid)(const parameters& p) = [](const parameters&) { return std::string(); };
  // p with what must follow its sizes (padding, say), which were those of `before`.
  parameters (*fitted)(const parameters& p, const parameters& before) = [](const parameters& p,
                                                                           const parameters&) { return p; };
  // What a stage that cannot run p is tried on instead, best first.
  std::vector<parameters> (*alternatives)(const parameters& p, pattern input) =
      [](const parameters&, pattern) { return std::vector<parameters>(); };
  // Those that the files of `apply` settle by their shapes and types.
  parameter_values (*parameters_of_files)(const std::vector<npy_header>& headers,
                                          const std::vector<std::string>& paths) = n_of_file;

  // What `random`, the input that is timed, is for these parameters.
  pattern (*random_input)(const parameters& p) = [](const parameters&) { return pattern::random; };

  // ---- exact results

  // Inputs whose every partial result is representable, tried at every measured size: the answer must be
  // equal, and one element that is left out, doubled or moved shows. nullptr: there are none, and sizes
  // beyond about 10^8 are only sampled.
  std::vector<exact_case> (*exact_cases)(const parameters& p, std::int64_t tile,
                                         std::uint64_t seed) = nullptr;
  // Whether the results of such inputs need no rounding.
  bool (*is_exact)(const parameters& p) = [](const parameters&) { return true; };
  // What makes whole numbers of exact results (of a mean, the window); 0: they are compared as they are.
  double (*exact_unit)(const parameters& p) = [](const parameters&) { return 0.0; };
  // What finishes an exact result (a division, say) may round, relative to the scale.
  double exact_error = 0;
  // Whether exact_outputs() and stream() (reference_hook, array_problem.hpp) take constant time for each.
  bool (*streams)(const parameters& p) = [](const parameters&) { return true; };

  // ---- the judge

  // Whether a zero must have its sign.
  bool keeps_zero_signs = false;
  // The error of stages that declare running sums (traits `drifts`, `leaks_nonfinite`), relative to
  // drift_scale(); 0: there are none for these parameters, and the traits excuse nothing.
  double (*drift_error)(const parameters& p) = [](const parameters&) { return 0.0; };
  // What a running sum has added up where a value of this magnitude has passed.
  double (*drift_scale)(const parameters& p, double largest) = [](const parameters&, double largest) {
    return largest;
  };
  // What a person must know of the results of data whose smallest magnitude, zeros left out, is this.
  std::string (*remark)(const parameters& p, double smallest) = [](const parameters&, double) {
    return std::string();
  };

  // ---- `apply`

  // An output of float32 that is an image: writes it, or its difference from the right one, to a PNG file.
  // nullptr: it is none.
  void (*draw)(const std::string& path, const parameters& p, const std::vector<float>& image) = nullptr;
  void (*draw_difference)(const std::string& path, const parameters& p,
                          const std::vector<float>& difference) = nullptr;

  // The options by which a person gives a function of their own as a text. None: there are none, and what
  // follows is not called.
  std::vector<text_description> (*texts)() = [] { return std::vector<text_description>(); };
  // Sets the parameters by which a stage is proved at this size. Throws usage_error for texts that make no
  // sense, as take() does.
  void (*stand_in_for)(const std::map<std::string, std::string>& texts, parameter_values& values) = nullptr;
  // Puts the text itself into p.
  void (*take)(const std::map<std::string, std::string>& texts, parameters& p) = nullptr;
  // The launch, prepared another way than the stages', of what is right.
  plan<Problem> (*prepare_right)(const parameters& p, cudaStream_t stream) = nullptr;
};

// ---- the templates of a problem (reference_hook)

// Whether the problem names this one.
template <class Problem, reference_hook hook>
inline constexpr bool has_hook = false;
template <class Problem, reference_hook hook>
requires requires {
  Problem::reference_hooks;
}
inline constexpr bool has_hook<Problem, hook> =
    (static_cast<unsigned>(Problem::reference_hooks) & static_cast<unsigned>(hook)) != 0;

template <class Problem>
concept defines_reference_run = requires(typename Problem::reference_run run) {
  run.append(run);
  { run.expected() } -> std::same_as<expectation>;
};

// Whether it names those that it has: one that is misspelt would be missed by nobody.
template <class Problem, class... Inputs>
constexpr bool names_its_hooks() {
  using parameters = typename Problem::parameters;
  constexpr bool exact_outputs = requires(const generated_values<Inputs>&... values, const parameters& p) {
    Problem::exact_outputs(values..., p, 0, 0, [](std::int64_t, auto) {});
  };
  constexpr bool stream = requires(const generated_values<Inputs>&... values, const parameters& p) {
    Problem::stream(values..., p, 0, 0, [](std::int64_t, const expectation&) {});
  };
  constexpr bool first_needed = requires(const generated_values<Inputs>&... values, const parameters& p) {
    { Problem::first_needed(values..., p, 0, 0) } -> std::same_as<std::optional<std::int64_t>>;
  };
  return exact_outputs == has_hook<Problem, reference_hook::exact_outputs> &&
         stream == has_hook<Problem, reference_hook::stream> &&
         first_needed == has_hook<Problem, reference_hook::first_needed> &&
         defines_reference_run<Problem> == has_hook<Problem, reference_hook::reference_run>;
}

}  // namespace lab
