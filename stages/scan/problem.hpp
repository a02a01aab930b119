// The prefix scan of n values: output i combines inputs 0 .. i (inclusive) or 0 .. i - 1 (exclusive, where
// output 0 is the neutral element) by an associative operation: the sum, or what user_operation.hpp says.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "harness/device/array_problem.hpp"
#include "harness/device/many_values.hpp"
#include "stages/scan/user_operation.hpp"

namespace lab::scan {

// The values of the parameters `type`, `kind` and `operation`.
enum class element : std::int64_t { int32, int64, float32 };
enum class kind : std::int64_t { inclusive, exclusive };
enum class operation : std::int64_t { sum, user };

// Sums of whole numbers wrap around: they are right modulo 2^32 or 2^64.
template <class T>
struct sum {
  static constexpr bool rounds = std::is_floating_point_v<T>;
  __host__ __device__ static constexpr T identity() { return 0; }
  __host__ __device__ constexpr T operator()(T a, T b) const {
    if constexpr (rounds) {
      return a + b;
    } else {
      using bits = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<bits>(a) + static_cast<bits>(b));
    }
  }
};

// n values of type `type` in device memory, aligned to 256 bytes.
struct input {
  const void* values;
  std::int64_t n;
  element type;
  bool inclusive;
  scan::operation operation;
};

// n values of the same type in device memory, aligned to 256 bytes.
struct output {
  void* results;
};

struct problem {
  using input = scan::input;
  using output = scan::output;

  struct parameters {
    std::int64_t n = 0;
    std::int64_t type = 0;
    std::int64_t kind = 0;
    std::int64_t operation = 0;
  };

  static constexpr const char* title = "Prefix scan of an array";
  static constexpr const char* unit = "prefix";
  static constexpr array_ceiling ceiling = array_ceiling::copy;

  static std::vector<parameter<parameters>> describe();

  template <class Visit>
  static auto with_elements(const parameters& p, const Visit& visit) {
    switch (static_cast<element>(p.type)) {
      case element::int32:
        return visit(element_types<std::int32_t, std::int32_t>{});
      case element::int64:
        return visit(element_types<std::int64_t, std::int64_t>{});
      case element::float32:
        break;
    }
    return visit(element_types<float, float>{});
  }

  // Every value is read once, and every result written once.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"values", {p.n}}}, .output = {"results", {p.n}}, .terms = p.n};
  }
  static input bind_input(const parameters& p, const void* values) {
    return {values, p.n, static_cast<element>(p.type),
            static_cast<scan::kind>(p.kind) == scan::kind::inclusive,
            static_cast<scan::operation>(p.operation)};
  }

  static constexpr auto reference_hooks = reference_hook::reference_run;
  class reference_run;
  template <class Value>
  static expectation reference(const Value& value, const parameters& p, std::int64_t i);

  // A sum in any order errs by at most (n - 1) u of the sum of magnitudes; a stage knows its own order, and
  // promises less (rounding_error). All else is exact.
  static double relative_error(const parameters& p);

  // Sizes around tiles and groups of tiles, of every type, kind and operation.
  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

// The bound for a sum in which every value passes through at most `additions` additions, relative to the sum
// of magnitudes: additions u / (1 - additions u), u = 2^-24 (Higham, "Accuracy and Stability of Numerical
// Algorithms", 2002, section 4.2). 0, where nothing rounds.
inline double rounding_error(const problem::parameters& p, std::int64_t additions) {
  if (static_cast<element>(p.type) != element::float32 ||
      static_cast<operation>(p.operation) != operation::sum)
    return 0;
  const double error = static_cast<double>(additions) * 0x1p-24;
  return error < 0.5 ? error / (1 - error) : 1;
}

inline double problem::relative_error(const parameters& p) {
  return rounding_error(p, p.n);
}

// What is known of neighbouring values: add() has one value more at the end, append() the values of another
// run.
class problem::reference_run {
 public:
  explicit reference_run(const parameters& p)
      : type_(static_cast<element>(p.type)),
        inclusive_(static_cast<scan::kind>(p.kind) == scan::kind::inclusive),
        is_sum_(static_cast<scan::operation>(p.operation) == scan::operation::sum) {}

  template <class T>
  void add(T x) {
    if (!inclusive_) before_ = all_;
    is_empty_ = false;
    if (!is_sum_) {
      all_.value = user<long double>{}(all_.value, static_cast<long double>(x));
    } else if constexpr (std::is_integral_v<T>) {
      all_.bits += static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
    } else {
      all_.sum += static_cast<double>(x);
      all_.magnitude += std::abs(static_cast<double>(x));
    }
  }
  // value(first) and the next, `count` of them.
  template <class Value>
  void add_all(const Value& value, std::int64_t first, std::int64_t count) {
    std::array<float, 1024> some;
    std::int64_t j = first;
    for (; is_sum_ && type_ == element::float32 && first + count - j > std::ssize(some);
         j += std::ssize(some)) {
      read_values(value, j, 1, std::ssize(some), some.data());
      const float64_sums sums = sums_of_many(some.data(), std::ssize(some));
      all_.sum += sums.values;
      all_.magnitude += sums.magnitudes;
    }
    for (; j < first + count; ++j) add(value(j));
  }
  void append(const reference_run& later) {
    if (later.is_empty_) return;
    before_ = joined(all_, later.before_);
    all_ = joined(all_, later.all_);
    is_empty_ = false;
  }
  [[nodiscard]] expectation expected() const {
    const combined& result = inclusive_ ? all_ : before_;
    if (is_sum_ && type_ == element::int32)
      return {.value = static_cast<long double>(static_cast<std::int32_t>(result.bits))};
    if (is_sum_ && type_ == element::int64)
      return {.value = static_cast<long double>(static_cast<std::int64_t>(result.bits))};
    if (is_sum_) return {.value = result.sum, .scale = result.magnitude};
    return {.value = result.value};
  }

 private:
  static constexpr long double nothing = user<long double>::identity();
  // In float64 a sum of n float32 errs by at most n 2^-53 of the sum of magnitudes, and some processors take
  // 50 times as long for a long double that is NaN.
  struct combined {
    long double value = nothing;  // of the user's operation
    double sum = 0;
    double magnitude = 0;
    std::uint64_t bits = 0;  // the sum of whole numbers, modulo 2^64
  };
  [[nodiscard]] combined joined(const combined& a, const combined& b) const {
    return {is_sum_ ? nothing : user<long double>{}(a.value, b.value), a.sum + b.sum,
            a.magnitude + b.magnitude, a.bits + b.bits};
  }

  element type_;
  bool inclusive_;
  bool is_sum_;
  bool is_empty_ = true;
  combined all_;
  combined before_;  // without the last value
};

template <class Value>
expectation problem::reference(const Value& value, const parameters& p, std::int64_t i) {
  reference_run run(p);
  for (std::int64_t j = 0; j <= i; ++j) run.add(value(j));
  return run.expected();
}

// Calls visit.operator()<T, Operation>(values, results) with the types that the input asks for.
template <class Visit>
void with_types(const input& in, const output& out, const Visit& visit) {
  const auto with_element = [&]<class T>() {
    const auto* values = static_cast<const T*>(in.values);
    auto* results = static_cast<T*>(out.results);
    if (in.operation == operation::sum) return visit.template operator()<T, sum<T>>(values, results);
    visit.template operator()<T, user<T>>(values, results);
  };
  switch (in.type) {
    case element::int32:
      return with_element.template operator()<std::int32_t>();
    case element::int64:
      return with_element.template operator()<std::int64_t>();
    case element::float32:
      return with_element.template operator()<float>();
  }
}

}  // namespace lab::scan
