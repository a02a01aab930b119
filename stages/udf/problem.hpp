// A function of each element, or of each window of elements, that is known only when the program runs.
//
// Output i of `square` (say) is square(x[i]); of `window_sum` it is the sum of x[i - w + 1] .. x[i], of those
// that there are. A function's value is converted to the type of the result as C++ does it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "common/cuda.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/records.hpp"
#include "stages/udf/own_function.hpp"

namespace lab::udf {

enum class value_type { int64, float64 };
enum class result_type { boolean, int64, float64 };
enum class function { square, choose, branch, member, member20, window_sum };
inline constexpr const char* function_names[] = {"square", "choose",   "branch",
                                                 "member", "member20", "window_sum"};

// A bool as an array holds it: a byte, 0 or 1.
using boolean = unsigned char;

// What stands for a window with fewer than min-periods values: +Inf, the least int64, false.
template <class Result>
constexpr Result incomplete() {
  if constexpr (std::is_same_v<Result, double>) return std::numeric_limits<double>::infinity();
  if constexpr (std::is_same_v<Result, std::int64_t>) return std::numeric_limits<std::int64_t>::min();
  return 0;
}

// n values in device memory, and what is asked of them.
struct input {
  const void* values;
  std::int64_t n;
  value_type type;
  result_type result;
  udf::function function;
  std::int64_t window;  // 0: elements
  std::int64_t min_periods;
};

// n results in device memory.
struct output {
  void* results;
};

struct problem {
  using input = udf::input;
  using output = udf::output;

  struct parameters {
    std::int64_t n = 0;
    std::int64_t type = 0;
    std::int64_t result = 1;
    std::int64_t window = 0;
    std::int64_t min_periods = 0;  // 0: the window
    std::int64_t function = 0;
    std::shared_ptr<const own_function> own = {};  // of `apply`, in the function's place
  };

  static constexpr const char* title = "User-defined functions";
  static constexpr const char* unit = "result";
  static constexpr array_ceiling ceiling = array_ceiling::copy;

  static std::vector<parameter<parameters>> describe();
  // Of a stage whose functions nvcc compiles.
  static std::string knows_its_own_alone(const parameters& p) {
    return p.own ? "knows the functions that it was compiled with: udf/03_source compiles one of your own"
                 : "";
  }

  template <class Visit>
  static auto with_elements(const parameters& p, const Visit& visit) {
    return with_types(
        static_cast<value_type>(p.type), static_cast<result_type>(p.result),
        [&]<class Value, class Result>(Value, Result) { return visit(element_types<Result, Value>{}); });
  }
  // Calls visit(Value{}, Result{}).
  template <class Visit>
  static auto with_types(value_type value, result_type result, const Visit& visit) {
    const auto with_result = [&]<class Value>(Value zero) {
      if (result == result_type::boolean) return visit(zero, boolean{});
      if (result == result_type::int64) return visit(zero, std::int64_t{});
      return visit(zero, double{});
    };
    return value == value_type::int64 ? with_result(std::int64_t{}) : with_result(double{});
  }

  // Every value is read once, and every result written.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"values", {p.n}}},
            .output = {"results", {p.n}},
            .terms = std::max<std::int64_t>(1, p.window),
            .written_bytes = p.n * (p.result == 0 ? 1 : 8)};
  }
  static input bind_input(const parameters& p, const void* values) {
    return {values,
            p.n,
            static_cast<value_type>(p.type),
            static_cast<result_type>(p.result),
            static_cast<udf::function>(p.function),
            p.window,
            p.min_periods == 0 ? p.window : p.min_periods};
  }

  // The functions, written for the reference alone.
  template <class T>
  static T value_of(udf::function which, T x) {
    switch (which) {
      case function::square:
        return x * x;
      case function::choose:
        return static_cast<T>(x == 9 || x == 44 ? 1 : 2);
      case function::branch:
        return static_cast<T>(x > 9 ? 8 : 1);
      case function::member:
        return static_cast<T>(x == 59 || x == 980 || x == 1000 || x == 1027);
      case function::member20: {
        for (const int prime : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71}) {
          if (x == prime) return 1;
        }
        return 0;
      }
      case function::window_sum:
        break;
    }
    return x;
  }
  // `x` as a result, in a type that holds all of them.
  template <class T>
  static long double as_result(const parameters& p, T x) {
    switch (static_cast<result_type>(p.result)) {
      case result_type::boolean:
        return x != 0 ? 1 : 0;
      case result_type::int64:
        return static_cast<long double>(static_cast<std::int64_t>(x));
      case result_type::float64:
        break;
    }
    return static_cast<long double>(static_cast<double>(x));
  }
  static long double incomplete_result(const parameters& p) {
    const auto result = static_cast<result_type>(p.result);
    if (result == result_type::boolean) return 0;
    if (result == result_type::int64) return static_cast<long double>(incomplete<std::int64_t>());
    return incomplete<double>();
  }
  static bool is_window(const parameters& p) {
    return static_cast<udf::function>(p.function) == function::window_sum;
  }

  // Each function is one sequence of operations: results are compared for equality.
  template <class Value>
  static expectation reference(const Value& value, const parameters& p, std::int64_t i) {
    using element = std::decay_t<decltype(value(i))>;
    if (!is_window(p))
      return {.value = as_result(p, value_of(static_cast<udf::function>(p.function), value(i)))};
    const std::int64_t first = std::max<std::int64_t>(0, i + 1 - p.window);
    if (i + 1 - first < (p.min_periods == 0 ? p.window : p.min_periods))
      return {.value = incomplete_result(p)};
    element total = 0;
    for (std::int64_t k = first; k <= i; ++k) total += value(k);
    return {.value = as_result(p, total)};
  }
  static double relative_error(const parameters& /*p*/) { return 0; }

  static constexpr auto reference_hooks = reference_hook::exact_outputs;
  // The same one after another; sums of whole numbers are updated, which rounds nothing.
  template <class Value, class Visit>
  static void exact_outputs(const Value& value, const parameters& p, std::int64_t first, std::int64_t count,
                            const Visit& visit) {
    using element = std::decay_t<decltype(value(first))>;
    const std::int64_t needed = p.min_periods == 0 ? p.window : p.min_periods;
    element total = 0;
    if (is_window(p)) {
      for (std::int64_t k = std::max<std::int64_t>(0, first - p.window); k < first; ++k) total += value(k);
    }
    for (std::int64_t i = first; i < first + count; ++i) {
      if (!is_window(p)) {
        visit(i, as_result(p, value_of(static_cast<udf::function>(p.function), value(i))));
        continue;
      }
      total += value(i);
      if (i >= p.window) total -= value(i - p.window);
      const bool complete = std::min(i + 1, p.window) >= needed;
      visit(i, complete ? as_result(p, total) : incomplete_result(p));
    }
  }
  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

}  // namespace lab::udf
