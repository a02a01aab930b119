// The sum of n values that are spread over several GPUs. Every GPU gets the sum of all, the same bits on
// each.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "common/gpu_group.hpp"
#include "common/operations.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/fold.hpp"
#include "harness/device/spread_parameters.hpp"

namespace lab::reduction_gpus {

// Part k of the values, in the memory of GPU k, aligned to 256 bytes; `type` in bits.
struct input {
  std::vector<const void*> values;
  std::int64_t n;
  std::int64_t type;

  [[nodiscard]] std::int64_t gpus() const { return std::ssize(values); }
  [[nodiscard]] lab::part part(std::int64_t k) const { return part_of(n, gpus(), k); }
};

// One value of that type on each GPU.
struct output {
  std::vector<void*> result;
};

struct problem {
  using input = reduction_gpus::input;
  using output = reduction_gpus::output;
  using launch_function = void (*)(const input&, const output&, const gpu_group&);

  struct parameters {
    std::int64_t n = 0;
    std::int64_t type = 64;
    std::int64_t gpus = 1;
    std::int64_t scaling = 0;
  };

  static constexpr const char* title = "Sum over several GPUs";
  static constexpr const char* unit = "result";
  static constexpr array_ceiling ceiling = array_ceiling::read;
  static constexpr bool is_replicated = true;

  static std::vector<parameter<parameters>> describe() {
    return {parameter_spread_n<parameters>(400'000),
            {.name = "type",
             .member = &parameters::type,
             .meaning = "type of the values",
             .bench = {"float32", "float64"},
             .emulator_bench = {"float64"},
             .choices = {{32, "float32"}, {64, "float64"}}},
            parameter_gpus<parameters>(),
            parameter_scaling<parameters>()};
  }

  template <class Visit>
  static auto with_elements(const parameters& p, const Visit& visit) {
    return p.type == 32 ? visit(element_types<float, float>{}) : visit(element_types<double, double>{});
  }

  // Of all GPUs together.
  static std::int64_t values(const parameters& p) { return spread_values(p); }
  static std::int64_t gpus(const parameters& p) { return p.gpus; }
  static part part_of_input(const parameters& p, std::int64_t k) { return part_of(values(p), p.gpus, k); }
  static part part_of_output(const parameters& /*p*/, std::int64_t k) { return {k, 1}; }
  static std::string key_of_results(const parameters& p) {
    return std::to_string(values(p)) + " " + std::to_string(p.type) + " " + std::to_string(p.gpus);
  }

  // Every value is read once; one is written on each GPU.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"values", {values(p)}}}, .output = {"result", {p.gpus}}, .terms = values(p)};
  }
  template <class T>
  static input bind_input(const parameters& p, const std::vector<const T*>& parts) {
    return {{parts.begin(), parts.end()}, values(p), p.type};
  }
  template <class T>
  static output bind_output(const parameters& /*p*/, const std::vector<T*>& results) {
    return {{results.begin(), results.end()}};
  }

  template <class Value>
  static expectation reference(const Value& value, const parameters& p, std::int64_t /*i*/) {
    return fold<sum>(value, values(p));
  }

  // Every value passes through at most n additions, which for many promises nothing: then 1e-4 and 1e-12 of
  // the sum of magnitudes (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 4.2).
  static double relative_error(const parameters& p) {
    const double u = p.type == 32 ? 0x1p-24 : 0x1p-53;
    return std::min(static_cast<double>(values(p) + 1) * u, p.type == 32 ? 1e-4 : 1e-12);
  }

  // One to four GPUs; sizes that do not divide, fewer values than GPUs, both types.
  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

// Calls visit.operator()<T>() for the type of the values.
template <class Visit>
void with_type(const input& in, const Visit& visit) {
  if (in.type == 32) {
    visit.template operator()<float>();
  } else {
    visit.template operator()<double>();
  }
}

}  // namespace lab::reduction_gpus
