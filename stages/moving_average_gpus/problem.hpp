// The moving average of n float64 values that are spread over several GPUs, each of which has a part of the
// values and makes the averages at the same places: output i is the mean of inputs i - window + 1 .. i,
// wherever they are. The first window - 1 outputs of the whole array are `incomplete`, and no others.
#pragma once

#include <string>
#include <vector>

#include "common/gpu_group.hpp"
#include "harness/device/spread_parameters.hpp"
#include "stages/moving_average/problem.hpp"

namespace lab::moving_average_gpus {

using moving_average::incomplete;

// Part k of the values, in the memory of GPU k.
struct input {
  std::vector<const double*> values;
  std::int64_t n;
  std::int64_t window;

  [[nodiscard]] std::int64_t gpus() const { return std::ssize(values); }
  [[nodiscard]] lab::part part(std::int64_t k) const { return part_of(n, gpus(), k); }
};

// Part k of the averages, likewise.
struct output {
  std::vector<double*> averages;
};

struct problem : array_problem<double, double> {
  using input = moving_average_gpus::input;
  using output = moving_average_gpus::output;
  using launch_function = void (*)(const input&, const output&, const gpu_group&);

  struct parameters {
    std::int64_t n = 0;
    std::int64_t window = 1;
    std::int64_t gpus = 1;
    std::int64_t scaling = 0;
  };

  static constexpr const char* title = "Moving average over several GPUs, float64";
  static constexpr const char* unit = "average";

  static std::vector<parameter<parameters>> describe() {
    return {parameter_spread_n<parameters>(200'000),
            {.name = "window",
             .member = &parameters::window,
             .meaning = "values averaged in each output",
             .minimum = 1,
             .bench = {3000},
             .emulator_bench = {300}},
            parameter_gpus<parameters>(),
            parameter_scaling<parameters>()};
  }

  // Of all GPUs together.
  static std::int64_t values(const parameters& p) { return spread_values(p); }
  static moving_average::problem::parameters whole(const parameters& p) { return {values(p), p.window}; }
  static std::int64_t gpus(const parameters& p) { return p.gpus; }
  static constexpr bool is_replicated = false;
  static part part_of_input(const parameters& p, std::int64_t k) { return part_of(values(p), p.gpus, k); }
  static part part_of_output(const parameters& p, std::int64_t k) { return part_of(values(p), p.gpus, k); }
  static std::string key_of_results(const parameters& p) {
    return std::to_string(values(p)) + " " + std::to_string(p.window);
  }

  static array_layout layout(const parameters& p) { return moving_average::problem::layout(whole(p)); }
  static input bind_input(const parameters& p, const std::vector<const double*>& values_of_gpus) {
    return {values_of_gpus, values(p), p.window};
  }

  // One array on one GPU or several: the same reference, and the same bounds.
  template <class Value>
  static expectation reference(const Value& value, const parameters& p, std::int64_t i) {
    return moving_average::problem::reference(value, whole(p), i);
  }
  static double relative_error(const parameters& p) {
    return moving_average::problem::relative_error(whole(p));
  }
  static constexpr double exact_error = moving_average::problem::exact_error;
  static double exact_unit(const parameters& p) { return moving_average::problem::exact_unit(whole(p)); }
  static constexpr auto reference_hooks = reference_hook::exact_outputs;
  template <class Value, class Visit>
  static void exact_outputs(const Value& value, const parameters& p, std::int64_t first, std::int64_t count,
                            const Visit& visit) {
    moving_average::problem::exact_outputs(value, whole(p), first, count, visit);
  }

  // One to four GPUs; sizes that do not divide, fewer values than GPUs, windows over several parts.
  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

}  // namespace lab::moving_average_gpus
