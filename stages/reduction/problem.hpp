// n values reduced to one by an associative operation: their sum, minimum or maximum, or what
// user_operation.hpp says. Of no values at all, the operation's neutral element.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/operations.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/fold.hpp"
#include "stages/reduction/user_operation.hpp"

namespace lab::reduction {

// The values of the parameters `operation` and `type` (in bits).
enum class operation : std::int64_t { sum, minimum, maximum, user };
enum class element : std::int64_t { float32 = 32, float64 = 64 };

// n values of type `type` in device memory, aligned to 256 bytes.
struct input {
  const void* values;
  std::int64_t n;
  element type;
  reduction::operation operation;
};

// One value of the same type in device memory.
struct output {
  void* result;
};

struct problem {
  using input = reduction::input;
  using output = reduction::output;

  struct parameters {
    std::int64_t n = 0;
    std::int64_t type = 32;
    std::int64_t operation = 0;
  };

  static constexpr const char* title = "Reduction of an array to one value";
  static constexpr const char* unit = "result";
  static constexpr array_ceiling ceiling = array_ceiling::read;

  static std::vector<parameter<parameters>> describe() {
    return {{.name = "n",
             .member = &parameters::n,
             .meaning = "values",
             .bench = {1'000'000, 10'000'000, 1'000'000'000},
             .emulator_bench = {1'000'000}},
            {.name = "type",
             .member = &parameters::type,
             .meaning = "type of the values",
             .bench = {"float32"},
             .choices = {{32, "float32"}, {64, "float64"}}},
            {.name = "operation",
             .member = &parameters::operation,
             .meaning = "what combines two values",
             .bench = {"sum"},
             .choices = {{0, "sum"}, {1, "min"}, {2, "max"}, {3, "user"}}}};
  }

  template <class Visit>
  static auto with_elements(const parameters& p, const Visit& visit) {
    return p.type == 32 ? visit(element_types<float, float>{}) : visit(element_types<double, double>{});
  }

  // Every value is read once; one is written.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"values", {p.n}}}, .output = {"result", {1}}, .terms = p.n};
  }
  static input bind_input(const parameters& p, const void* values) {
    return {values, p.n, static_cast<element>(p.type), static_cast<reduction::operation>(p.operation)};
  }

  template <class Value>
  static expectation reference(const Value& value, const parameters& p, std::int64_t /*i*/) {
    switch (static_cast<reduction::operation>(p.operation)) {
      case operation::sum:
        return fold<sum>(value, p.n);
      case operation::minimum:
        return fold<minimum>(value, p.n);
      case operation::maximum:
        return fold<maximum>(value, p.n);
      case operation::user:
        break;
    }
    return fold<user>(value, p.n);
  }

  // A sum in any order errs by at most (n - 1) u of the sum of magnitudes, which for many values refuses
  // nothing. So this promises 1e-4 (float64: 1e-12) at most; a stage knows its own order and promises less
  // (rounding_error), or declares that it needs more.
  static double relative_error(const parameters& p);

  // Sizes around everything that a stage could round to, in both types and all operations.
  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

// The bound for a sum in which every value passes through at most `additions` additions, relative to the sum
// of magnitudes: additions u / (1 - additions u), u = 2^-24 or 2^-53 (Higham, "Accuracy and Stability of
// Numerical Algorithms", 2002, section 4.2).
inline double rounding_error(const problem::parameters& p, std::int64_t additions) {
  const double error = static_cast<double>(additions) * (p.type == 32 ? 0x1p-24 : 0x1p-53);
  return error < 0.5 ? error / (1 - error) : 1;
}

inline double problem::relative_error(const parameters& p) {
  return std::min(rounding_error(p, p.n), p.type == 32 ? 1e-4 : 1e-12);
}

// Values that one of `threads` threads combines when n are dealt out evenly.
inline std::int64_t share(std::int64_t n, std::int64_t threads) {
  return (n + threads - 1) / threads;
}

// Blocks that take `per_block` of n values each: at least one, which answers for an empty input, and at most
// `most`.
inline int blocks_for(std::int64_t n, std::int64_t per_block, std::int64_t most) {
  return static_cast<int>(std::clamp<std::int64_t>(share(n, per_block), 1, most));
}

// Calls visit.operator()<T, Operation>(values, result) with the types that the input asks for, so that one
// kernel template serves every type and operation.
template <class Visit>
void with_types(const input& in, const output& out, const Visit& visit) {
  const auto with_element = [&]<class T>() {
    const auto* values = static_cast<const T*>(in.values);
    auto* result = static_cast<T*>(out.result);
    switch (in.operation) {
      case operation::sum:
        return visit.template operator()<T, sum<T>>(values, result);
      case operation::minimum:
        return visit.template operator()<T, minimum<T>>(values, result);
      case operation::maximum:
        return visit.template operator()<T, maximum<T>>(values, result);
      case operation::user:
        return visit.template operator()<T, user<T>>(values, result);
    }
  };
  if (in.type == element::float32) {
    with_element.template operator()<float>();
  } else {
    with_element.template operator()<double>();
  }
}

}  // namespace lab::reduction
