// Values combined to one in long double, on all cores where they are many: a reference.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <typeinfo>
#include <vector>

#include "common/all_cores.hpp"
#include "common/operations.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/references.hpp"

namespace lab {

// Whether one NaN makes NaN of every result.
template <class Operation>
inline constexpr bool keeps_nan = false;
template <>
inline constexpr bool keeps_nan<sum<long double>> = true;
template <>
inline constexpr bool keeps_nan<minimum<long double>> = true;
template <>
inline constexpr bool keeps_nan<maximum<long double>> = true;

// value(first) .. value(first + count - 1) combined one after another in pieces of at most 4096, and the
// pieces in pairs: rounding (2^-64) passes through each value at most 4096 + log2(count / 4096) times, which
// for 1e9 values is 2e-16 of the sum of magnitudes at the very worst. Some processors take 50 times as long
// for a long double that is NaN: where one decides, nothing is combined with it.
template <class Operation, class Value>
long double fold_in_order(const Value& value, std::int64_t first, std::int64_t count) {
  const Operation combine;
  if (count > 4096) {
    const std::int64_t half = count / 2;
    return combine(fold_in_order<Operation>(value, first, half),
                   fold_in_order<Operation>(value, first + half, count - half));
  }
  long double result = Operation::identity();
  for (std::int64_t j = first; j < first + count; ++j) {
    const auto next = value(j);
    if constexpr (keeps_nan<Operation>) {
      if (std::isnan(next)) return std::numeric_limits<long double>::quiet_NaN();
    }
    result = combine(result, static_cast<long double>(next));
  }
  return result;
}

template <class Operation, class Value>
long double fold_on_all_cores(const Value& value, std::int64_t count) {
  const std::int64_t workers = std::max(1u, std::thread::hardware_concurrency());
  std::vector<long double> parts(static_cast<std::size_t>(workers));
  const auto begin = [&](std::int64_t worker) { return count / workers * worker; };
  {
    std::vector<std::jthread> threads;
    for (std::int64_t worker = 0; worker < workers; ++worker) {
      const std::int64_t end = worker + 1 < workers ? begin(worker + 1) : count;
      threads.emplace_back([&, worker, end] {
        parts[static_cast<std::size_t>(worker)] =
            fold_in_order<Operation>(value, begin(worker), end - begin(worker));
      });
    }
  }
  return fold_in_order<Operation>(
      [&](std::int64_t worker) { return parts[static_cast<std::size_t>(worker)]; }, 0, workers);
}

// Sums of exact inputs (inputs.hpp): whole numbers, at most 2^20 each.
template <class Value>
long double sum_of_integers(const Value& value, std::int64_t first, std::int64_t count) {
  std::int64_t sum = 0;
  for (std::int64_t j = first; j < first + count; ++j) sum += static_cast<std::int64_t>(value(j));
  return static_cast<long double>(sum);
}

template <class Value>
long double integers_on_all_cores(const Value& value, std::int64_t count) {
  constexpr std::int64_t piece = 1 << 16;
  std::atomic<std::int64_t> total{0};
  for_pieces_on_all_cores(count, piece, [&](std::int64_t begin, std::int64_t end, unsigned) {
    total += static_cast<std::int64_t>(sum_of_integers(value, begin, end - begin));
  });
  return static_cast<long double>(total.load());
}

// To the last bit, and back.
inline std::string text_of(const expectation& result) {
  char text[96];
  std::snprintf(text, sizeof text, "%La %La", result.value, result.scale);
  return text;
}
inline expectation expectation_from(const std::string& text) {
  char* rest = nullptr;
  expectation result{.value = std::strtold(text.c_str(), &rest)};
  result.scale = std::strtold(rest, nullptr);
  return result;
}

// Which elements of the generated array `value` is made of, where it is not the array itself.
template <class Value>
std::string places_of(const Value& value) {
  if constexpr (requires { value.places(); }) {
    return " " + value.places();
  } else {
    return "";
  }
}

// What folding `count` values with Operation<long double> must give; value(j) is value j. An operation that
// rounds is measured against the fold of the magnitudes, any other must be met exactly.
template <template <class> class Operation, class Value>
expectation fold(const Value& value, std::int64_t count) {
  using operation = Operation<long double>;
  constexpr std::int64_t many = 1 << 20;
  const auto compute = [&] {
    const auto magnitude = [&](std::int64_t j) { return std::abs(value(j)); };
    expectation result;
    if constexpr (operation::rounds && requires { value.kind; }) {
      if (is_exact(value.kind)) {
        // Whole numbers, and compared for equality: no scale is asked for.
        result.value = count < many ? sum_of_integers(value, 0, count) : integers_on_all_cores(value, count);
        result.scale = std::abs(result.value);
        return result;
      }
    }
    result.value =
        count < many ? fold_in_order<operation>(value, 0, count) : fold_on_all_cores<operation>(value, count);
    if constexpr (operation::rounds) {
      bool positive = false;
      if constexpr (requires { value.kind; }) positive = value.kind == pattern::random;
      result.scale = positive       ? result.value
                     : count < many ? fold_in_order<operation>(magnitude, 0, count)
                                    : fold_on_all_cores<operation>(magnitude, count);
    }
    return result;
  };
  // Every stage of a track asks for the same folds of generated values; the costly ones are kept.
  if constexpr (requires { value.kind, value.seed; }) {
    if (count >= many) {
      const std::string key = std::string("fold ") + typeid(operation).name() + typeid(Value).name() + " " +
                              std::to_string(count) + " " + to_string(value.kind) + " " +
                              std::to_string(value.seed) + places_of(value);
      return expectation_from(references::kept(key, [&] { return text_of(compute()); }));
    }
  }
  return compute();
}

}  // namespace lab
