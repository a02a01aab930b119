// The moving average of n float64 values over a window: output i is the mean of inputs i - window + 1 .. i,
// and the first window - 1 outputs, whose windows are incomplete, are `incomplete`.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "harness/device/array_problem.hpp"
#include "harness/device/compensated_sum.hpp"

namespace lab::moving_average {

// The value of an average whose window is incomplete.
inline constexpr double incomplete = std::numeric_limits<double>::infinity();

// n values in device memory.
struct input {
  const double* values;
  std::int64_t n;
  std::int64_t window;
};

// n averages in device memory.
struct output {
  double* averages;
};

struct problem : array_problem<double, double> {
  using input = moving_average::input;
  using output = moving_average::output;

  struct parameters {
    std::int64_t n = 0;
    std::int64_t window = 1;
  };

  static constexpr const char* title = "Moving average, float64";
  static constexpr const char* unit = "average";

  static std::vector<parameter<parameters>> describe() {
    return {parameter_n<parameters>(1'000'000),
            {.name = "window",
             .member = &parameters::window,
             .meaning = "values averaged in each output",
             .minimum = 1,
             .bench = {4, 3000},
             .emulator_bench = {300}}};
  }

  // Every value is read once and every average written once.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"values", {p.n}}}, .output = {"averages", {p.n}}, .terms = std::min(p.window, p.n)};
  }
  static input bind_input(const parameters& p, const double* values) { return {values, p.n, p.window}; }

  // The definition itself. `value(j)` is input j.
  template <class Value>
  static expectation reference(const Value& value, const parameters& p, std::int64_t i) {
    if (i < p.window - 1) return {.value = incomplete, .scale = 0};
    const two_sums all = sums_of(value, i - p.window + 1, p.window);
    const auto count = static_cast<long double>(p.window);
    return {.value = all.values / count, .scale = all.magnitudes / count};
  }

  // A sum of w terms in any order errs by at most (w - 1) u of the sum of magnitudes (Higham, "Accuracy and
  // Stability of Numerical Algorithms", 2002, section 4.2), and the division by one u more. Beyond window
  // 2000 that worst case is looser than the 1e-12 that this track promises, so the promise bounds it; a few u
  // are left for window 1 to 8.
  static double relative_error(const parameters& p) {
    constexpr double u = 0x1p-53;
    return std::min(4 * u * static_cast<double>(p.window + 1), 1e-12);
  }

  // With whole numbers as inputs every running sum is exact, and a mean is its sum divided by the window: two
  // roundings at most, or three with a reciprocal.
  static constexpr double exact_error = 0x1p-51;
  static double exact_unit(const parameters& p) { return static_cast<double>(p.window); }
  static constexpr auto reference_hooks = reference_hook::exact_outputs;
  // Calls visit(i, sum of the window of output i) for first <= i < first + count.
  template <class Value, class Visit>
  static void exact_outputs(const Value& value, const parameters& p, std::int64_t first, std::int64_t count,
                            const Visit& visit) {
    std::int64_t sum = 0;
    for (std::int64_t j = std::max<std::int64_t>(0, first - p.window + 1); j < first; ++j)
      sum += static_cast<std::int64_t>(value(j));
    for (std::int64_t i = first; i < first + count; ++i) {
      sum += static_cast<std::int64_t>(value(i));
      visit(i, i < p.window - 1 ? incomplete : static_cast<double>(sum));
      if (i >= p.window - 1) sum -= static_cast<std::int64_t>(value(i - p.window + 1));
    }
  }

  // Sizes and windows around everything that a stage could round to: nothing, one, a tile, the window itself.
  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

// Why a stage that keeps `tile` outputs' inputs and their halo of window - 1 inputs in shared memory, at
// `bytes_each`, cannot run these parameters on the current device; empty when it can.
inline std::string halo_too_long(const problem::parameters& p, std::int64_t tile, std::size_t bytes_each) {
  int device = 0;
  int max_bytes = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&max_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const std::int64_t max_values = max_bytes / static_cast<std::int64_t>(bytes_each);
  if (p.window - 1 <= max_values - tile) return "";
  return "window " + std::to_string(p.window) + " does not fit: a block has shared memory for at most " +
         std::to_string(max_values - tile + 1);
}

}  // namespace lab::moving_average
