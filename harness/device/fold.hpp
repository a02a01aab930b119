// Values combined to one, on all cores where they are many: a reference.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "common/all_cores.hpp"
#include "common/operations.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/compensated_sum.hpp"
#include "harness/device/references.hpp"

namespace lab {

// So many values are folded on all cores, and their fold is kept.
inline constexpr std::int64_t many_to_fold = 1 << 20;

// fold_piece(first, count) of the pieces of [0, count), of at most 4096, combined in pairs.
template <class Combine, class FoldPiece>
auto fold_in_pairs(const FoldPiece& fold_piece, const Combine& combine, std::int64_t first,
                   std::int64_t count) {
  if (count <= 4096) return fold_piece(first, count);
  const std::int64_t half = count / 2;
  return combine(fold_in_pairs(fold_piece, combine, first, half),
                 fold_in_pairs(fold_piece, combine, first + half, count - half));
}

// The same, on all cores where they are many.
template <class Combine, class FoldPiece>
auto fold_in_parts(const FoldPiece& fold_piece, const Combine& combine, std::int64_t count) {
  if (count < many_to_fold) return fold_in_pairs(fold_piece, combine, 0, count);
  const std::int64_t workers = std::max(1u, std::thread::hardware_concurrency());
  std::vector<decltype(fold_piece(0, 0))> parts(static_cast<std::size_t>(workers));
  const auto begin = [&](std::int64_t part) { return part < workers ? count / workers * part : count; };
  // A part is one thread's, and the parts are combined in their order: sums round alike every time.
  for_pieces_on_all_cores(workers, 1, [&](std::int64_t part, std::int64_t /*end*/, unsigned /*thread*/) {
    parts[static_cast<std::size_t>(part)] =
        fold_in_pairs(fold_piece, combine, begin(part), begin(part + 1) - begin(part));
  });
  auto all = parts[0];
  for (std::size_t k = 1; k < parts.size(); ++k) all = combine(all, parts[k]);
  return all;
}

// With sums in pieces and pairs, rounding is some 30 times 2^-64 of the sum of magnitudes for 1e9 values.
template <class Value>
two_sums fold_sums(const Value& value, std::int64_t count) {
  const auto piece = [&](std::int64_t first, std::int64_t of_piece) {
    return sums_of(value, first, of_piece);
  };
  return fold_in_parts(piece, std::plus<two_sums>(), count);
}

// The same of single values, from `none` on.
template <class Result, class Combine, class Value>
Result fold_each(const Value& value, std::int64_t count, const Result& none, const Combine& combine) {
  const auto piece = [&](std::int64_t first, std::int64_t of_piece) {
    Result result = none;
    for_pieces_of<256>(value, first, of_piece,
                       [&](std::int64_t begin, std::int64_t count_of_piece, const auto& its_value) {
                         for (std::int64_t j = begin; j < begin + count_of_piece; ++j)
                           result = combine(result, static_cast<Result>(its_value(j)));
                         return true;
                       });
    return result;
  };
  return fold_in_parts(piece, combine, count);
}

// Of values as they are, where nothing rounds; else in long double.
template <template <class> class Operation, class Value>
auto fold_values(const Value& value, std::int64_t count) {
  using element = std::decay_t<decltype(value(0))>;
  const Operation<std::conditional_t<Operation<element>::rounds, long double, element>> combine;
  return fold_each(value, count, combine.identity(), combine);
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
std::string elements_of(const Value& value) {
  if constexpr (requires { value.places(); }) {
    return " " + value.places();
  } else {
    return "";
  }
}

// What folding `count` values with Operation must give; value(j) is value j. An operation that rounds is
// measured against the fold of the magnitudes, any other must be met exactly.
template <template <class> class Operation, class Value>
expectation fold(const Value& value, std::int64_t count) {
  using operation = Operation<long double>;
  const auto compute = [&]() -> expectation {
    if constexpr (std::is_same_v<operation, sum<long double>>) {
      if constexpr (requires { value.kind; }) {
        if (is_exact(value.kind)) {
          // Whole numbers of at most 2^20 each, and compared for equality: no scale is asked for.
          const auto all =
              static_cast<long double>(fold_each(value, count, std::int64_t{0}, std::plus<std::int64_t>()));
          return {.value = all, .scale = std::abs(all)};
        }
      }
      const two_sums all = fold_sums(value, count);
      return {.value = all.values, .scale = all.magnitudes};
    } else if constexpr (operation::rounds) {
      const auto magnitude = [&](std::int64_t j) { return std::abs(value(j)); };
      return {.value = fold_values<Operation>(value, count),
              .scale = fold_values<Operation>(magnitude, count)};
    } else {
      return {.value = static_cast<long double>(fold_values<Operation>(value, count))};
    }
  };
  // Every stage of a track asks for the same folds of generated values; the costly ones are kept.
  if constexpr (requires { value.kind, value.seed; }) {
    if (count >= many_to_fold) {
      const std::string key = std::string("fold ") + typeid(operation).name() + typeid(Value).name() + " " +
                              std::to_string(count) + " " + to_string(value.kind) + " " +
                              std::to_string(value.seed) + elements_of(value);
      return expectation_from(references::kept(key, [&] { return text_of(compute()); }));
    }
  }
  return compute();
}

}  // namespace lab
