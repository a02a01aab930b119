// Thrust's function objects, placeholders, and random numbers.
#pragma once

#include <cfloat>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

namespace thrust {

using std::bit_and;
using std::bit_or;
using std::bit_xor;
using std::complex;
using std::divides;
using std::equal_to;
using std::greater;
using std::greater_equal;
using std::less;
using std::less_equal;
using std::logical_and;
using std::logical_not;
using std::logical_or;
using std::minus;
using std::modulus;
using std::multiplies;
using std::negate;
using std::not_equal_to;
using std::plus;
// Of complex numbers.
using std::abs;
using std::acos;
using std::acosh;
using std::arg;
using std::asin;
using std::asinh;
using std::atan;
using std::atanh;
using std::conj;
using std::cos;
using std::cosh;
using std::exp;
using std::log;
using std::log10;
using std::norm;
using std::polar;
using std::pow;
using std::proj;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;

template <class T = void>
struct maximum {
  T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <>
struct maximum<void> {
  template <class T, class U>
  auto operator()(const T& a, const U& b) const {
    return a < b ? b : a;
  }
};
template <class T = void>
struct minimum {
  T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
template <>
struct minimum<void> {
  template <class T, class U>
  auto operator()(const T& a, const U& b) const {
    return b < a ? b : a;
  }
};
template <class T = void>
struct identity {
  const T& operator()(const T& a) const { return a; }
};
template <>
struct identity<void> {
  template <class T>
  T&& operator()(T&& a) const {
    return std::forward<T>(a);
  }
};
template <class T = void>
struct square {
  T operator()(const T& a) const { return a * a; }
};
template <class T = void, class U = T>
struct project1st {
  T operator()(const T& a, const U&) const { return a; }
};
template <class T = void, class U = T>
struct project2nd {
  U operator()(const T&, const U& b) const { return b; }
};
template <class T>
struct unary_function_base {};
template <class Argument, class Result>
struct unary_function {
  using argument_type = Argument;
  using result_type = Result;
};
template <class First, class Second, class Result>
struct binary_function {
  using first_argument_type = First;
  using second_argument_type = Second;
  using result_type = Result;
};
template <class Predicate>
struct unary_negate {
  Predicate predicate;
  template <class T>
  bool operator()(const T& a) const {
    return !predicate(a);
  }
};
template <class Predicate>
unary_negate<Predicate> not1(const Predicate& predicate) {
  return {predicate};
}

// `_1 * a + _2` is a function of its arguments.
template <class Function>
struct placeholder_expression {
  Function function;
  template <class... Arguments>
  auto operator()(const Arguments&... arguments) const {
    return function(arguments...);
  }
};
template <class Function>
placeholder_expression(Function) -> placeholder_expression<Function>;
template <class T>
inline constexpr bool is_placeholder_expression = false;
template <class Function>
inline constexpr bool is_placeholder_expression<placeholder_expression<Function>> = true;
template <class T>
auto placeholder_operand(const T& operand) {
  if constexpr (is_placeholder_expression<T>) {
    return operand.function;
  } else {
    return [operand](const auto&...) { return operand; };
  }
}
#define LAB_THRUST_OPERATOR(symbol)                                                                         \
  template <class A, class B>                                                                               \
  requires(is_placeholder_expression<A> || is_placeholder_expression<B>) auto operator symbol(const A& a,   \
                                                                                              const B& b) { \
    return placeholder_expression{[left = thrust::placeholder_operand(a),                                   \
                                   right = thrust::placeholder_operand(b)](const auto&... arguments) {      \
      return left(arguments...) symbol right(arguments...);                                                 \
    }};                                                                                                     \
  }
LAB_THRUST_OPERATOR(+)
LAB_THRUST_OPERATOR(-)
LAB_THRUST_OPERATOR(*)
LAB_THRUST_OPERATOR(/)
LAB_THRUST_OPERATOR(%)
LAB_THRUST_OPERATOR(<)
LAB_THRUST_OPERATOR(>)
LAB_THRUST_OPERATOR(<=)
LAB_THRUST_OPERATOR(>=)
LAB_THRUST_OPERATOR(==)
LAB_THRUST_OPERATOR(!=)
LAB_THRUST_OPERATOR(&&)
LAB_THRUST_OPERATOR(||)
LAB_THRUST_OPERATOR(&)
LAB_THRUST_OPERATOR(|)
LAB_THRUST_OPERATOR(^)
#undef LAB_THRUST_OPERATOR
template <class A>
requires is_placeholder_expression<A>
auto operator-(const A& a) {
  return placeholder_expression{[a](const auto&... arguments) { return -a.function(arguments...); }};
}
template <class A>
requires is_placeholder_expression<A>
auto operator!(const A& a) {
  return placeholder_expression{[a](const auto&... arguments) { return !a.function(arguments...); }};
}
namespace placeholders {
inline const placeholder_expression _1{[](const auto& first, const auto&...) { return first; }};
inline const placeholder_expression _2{
    [](const auto&, const auto& second, const auto&...) { return second; }};
}  // namespace placeholders

// ---- random numbers

// Lehmer's generator: x = a x + c modulo m, with a jump of any length in the logarithm of its steps.
template <class T, T a, T c, T m>
class linear_congruential_engine {
 public:
  using result_type = T;
  static constexpr T min = c == 0 ? 1 : 0;
  static constexpr T max = m - 1;
  static constexpr T default_seed = 1;
  explicit linear_congruential_engine(T start = default_seed) { seed(start); }
  void seed(T start = default_seed) { x_ = c == 0 && start % m == 0 ? 1 : start % m; }
  T operator()() { return x_ = static_cast<T>((std::uint64_t{a} * x_ + c) % m); }
  void discard(unsigned long long count) {
    std::uint64_t factor = a, sum = c, all_factor = 1, all_sum = 0;
    for (; count > 0; count >>= 1) {
      if ((count & 1) != 0) {
        all_factor = all_factor * factor % m;
        all_sum = (all_sum * factor + sum) % m;
      }
      sum = (factor + 1) * sum % m;
      factor = factor * factor % m;
    }
    x_ = static_cast<T>((all_factor * x_ + all_sum) % m);
  }

 private:
  T x_ = default_seed;
};
using minstd_rand = linear_congruential_engine<std::uint32_t, 48271, 0, 2147483647>;
using minstd_rand0 = linear_congruential_engine<std::uint32_t, 16807, 0, 2147483647>;
using default_random_engine = minstd_rand;
using taus88 = minstd_rand;
using ranlux24 = minstd_rand;

template <class T = double>
class uniform_real_distribution {
 public:
  using result_type = T;
  explicit uniform_real_distribution(T least = 0, T end = 1) : least_(least), end_(end) {}
  template <class Engine>
  T operator()(Engine& engine) {
    const T part = static_cast<T>(engine() - Engine::min) /
                   static_cast<T>(1 + static_cast<double>(Engine::max - Engine::min));
    return part * (end_ - least_) + least_;
  }

 private:
  T least_, end_;
};
template <class T = int>
class uniform_int_distribution {
 public:
  using result_type = T;
  explicit uniform_int_distribution(T least = 0, T most = std::numeric_limits<T>::max())
      : least_(least), most_(most) {}
  template <class Engine>
  T operator()(Engine& engine) {
    uniform_real_distribution<double> real(static_cast<double>(least_), static_cast<double>(most_) + 1);
    return static_cast<T>(std::floor(real(engine)));
  }

 private:
  T least_, most_;
};
// Box and Muller's, from two numbers for one.
template <class T = double>
class normal_distribution {
 public:
  using result_type = T;
  explicit normal_distribution(T mean = 0, T deviation = 1) : mean_(mean), deviation_(deviation) {}
  template <class Engine>
  T operator()(Engine& engine) {
    uniform_real_distribution<double> real;
    const double radius = std::sqrt(-2 * std::log(1 - real(engine)));
    return static_cast<T>(mean_ + deviation_ * radius * std::cos(6.283185307179586 * real(engine)));
  }

 private:
  T mean_, deviation_;
};
namespace random {
using thrust::default_random_engine;
using thrust::minstd_rand;
using thrust::minstd_rand0;
using thrust::normal_distribution;
using thrust::uniform_int_distribution;
using thrust::uniform_real_distribution;
}  // namespace random

}  // namespace thrust
