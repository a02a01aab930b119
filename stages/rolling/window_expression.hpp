// A function of a window that is known only when the program runs: "x[0] - x[count - 1]". It is kept as
// instructions that push and pop numbers. Host and device carry them out alike: one after the other, none
// fused, of operations that IEEE 754 rounds correctly. So both have the same bits.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/cuda.hpp"

namespace lab::rolling {

struct window_expression {
  enum class operation : std::int32_t {
    number,
    count,
    value,  // x[k]; k < 0: from the end
    sum_of_window,
    min_of_window,
    max_of_window,
    negate,
    absolute,
    root,
    round_down,
    add,
    subtract,
    multiply,
    divide,
    smaller,
    larger,
    less,
    less_or_equal,
    equal,
    choose
  };
  struct instruction {
    window_expression::operation operation;
    double number;
  };
  static constexpr int most_instructions = 48;
  static constexpr int most_numbers = 12;  // that wait for an operation

  instruction instructions[most_instructions];
  int length;

  __host__ __device__ double operator()(const double* x, std::int64_t count) const {
    double numbers[most_numbers];
    int held = 0;
    for (int k = 0; k < length; ++k) {
      const instruction& next = instructions[k];
      if (next.operation <= operation::max_of_window && next.operation != operation::value) {
        numbers[held++] = next.operation == operation::number  ? next.number
                          : next.operation == operation::count ? static_cast<double>(count)
                                                               : of_window(next.operation, x, count);
        continue;
      }
      if (next.operation >= operation::add) held -= next.operation == operation::choose ? 2 : 1;
      double& a = numbers[held - 1];
      a = next.operation == operation::value    ? element(x, count, a)
          : next.operation == operation::choose ? (a != 0 ? numbers[held] : numbers[held + 1])
          : next.operation < operation::add     ? of_one(next.operation, a)
                                                : of_two(next.operation, a, numbers[held]);
    }
    return numbers[0];
  }

 private:
  __host__ __device__ static double element(const double* x, std::int64_t count, double index) {
    const double place = index < 0 ? index + static_cast<double>(count) : index;
    return place >= 0 && place < static_cast<double>(count) ? x[static_cast<std::int64_t>(place)] : NAN;
  }
  __host__ __device__ static double of_window(window_expression::operation what, const double* x,
                                              std::int64_t count) {
    double all = x[0];
    for (std::int64_t k = 1; k < count; ++k) {
      all = of_two(what == operation::sum_of_window   ? operation::add
                   : what == operation::min_of_window ? operation::smaller
                                                      : operation::larger,
                   all, x[k]);
    }
    return all;
  }
  __host__ __device__ static double of_one(window_expression::operation what, double a) {
    if (what == operation::negate) return -a;
    if (what == operation::absolute) return fabs(a);
    return what == operation::root ? sqrt(a) : floor(a);
  }
  // A NaN is the smaller and the larger of two numbers.
  __host__ __device__ static double of_two(window_expression::operation what, double a, double b) {
    switch (what) {
      case operation::add:
        return a + b;
      case operation::subtract:
        return a - b;
      case operation::multiply:
        return a * b;
      case operation::divide:
        return a / b;
      case operation::smaller:
        return a < b || a != a ? a : b;
      case operation::larger:
        return a > b || a != a ? a : b;
      case operation::less:
        return a < b ? 1 : 0;
      case operation::less_or_equal:
        return a <= b ? 1 : 0;
      default:
        return a == b ? 1 : 0;
    }
  }
};

}  // namespace lab::rolling
