// Found outputs against the reference, on all cores: within a bound, or exactly.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/all_cores.hpp"
#include "common/random.hpp"
#include "harness/device/array_hooks.hpp"
#include "harness/device/array_problem.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/track.hpp"

namespace lab {

template <class Output>
std::string number_text(long double number) {
  using limits = std::numeric_limits<Output>;
  char text[64];
  std::snprintf(text, sizeof text, "%.*Lg", limits::is_integer ? limits::digits10 + 1 : limits::max_digits10,
                number);
  return text;
}

// What the problem's reference says of output i.
template <class Problem, class Sources>
expectation reference_of(const Sources& sources, const typename Problem::parameters& p, std::int64_t i) {
  return std::apply([&](const auto&... values) { return Problem::reference(values..., p, i); }, sources);
}

// For one thread that goes through them in order.
template <class... T>
std::tuple<values_in_order<T>...> in_order(const std::tuple<generated_values<T>...>& sources) {
  return std::apply([](const auto&... values) { return std::tuple{values_in_order(values)...}; }, sources);
}
// A person's own values are there already.
template <class... Value>
const std::tuple<Value...>& in_order(const std::tuple<Value...>& sources) {
  return sources;
}

// Makes a reference_run longer by the inputs first .. end - 1, and calls visit(i) behind each.
template <class Run, class Sources, class Visit>
void extend(Run& run, const Sources& values, std::int64_t first, std::int64_t end, const Visit& visit) {
  std::apply(
      [&](const auto&... value) {
        for (std::int64_t i = first; i < end; ++i) {
          run.add(value(i)...);
          visit(i);
        }
      },
      values);
}

template <class Problem, class Sources>
inline constexpr bool knows_first_needed = false;
template <class Problem, class... T>
inline constexpr bool knows_first_needed<Problem, std::tuple<generated_values<T>...>> =
    has_hook<Problem, reference_hook::first_needed>;

// The run up to input i, made of the few inputs that count in what follows; none, where more than `most`
// would have to be looked at, or nothing is known of the inputs beforehand.
template <class Problem, class Sources>
std::optional<typename Problem::reference_run> near_run(const Sources& sources,
                                                        const typename Problem::parameters& p, std::int64_t i,
                                                        std::int64_t most) {
  if constexpr (knows_first_needed<Problem, Sources>) {
    const std::optional<std::int64_t> first = std::apply(
        [&](const auto&... value) { return Problem::first_needed(value..., p, i, most); }, sources);
    if (!first) return std::nullopt;
    typename Problem::reference_run run(p);
    extend(run, in_order(sources), *first, i + 1, [](std::int64_t) {});
    return run;
  }
  return std::nullopt;
}

// What is known before each `piece` of the first n inputs: of the few before it, where they are enough
// everywhere. Otherwise each core goes through pieces of its own, and what is known of them is put together
// in order.
template <class Problem, class Sources>
std::vector<typename Problem::reference_run> runs_before(const Sources& sources,
                                                         const typename Problem::parameters& p,
                                                         std::int64_t n, std::int64_t piece) {
  using run = typename Problem::reference_run;
  const std::int64_t pieces = std::max<std::int64_t>(1, (n + piece - 1) / piece);
  std::vector<run> before(static_cast<std::size_t>(pieces), run(p));
  std::atomic<bool> all_near = true;
  for_pieces_on_all_cores(pieces - 1, 1, [&](std::int64_t which, std::int64_t, unsigned) {
    if (!all_near) return;
    const auto near = near_run<Problem>(sources, p, (which + 1) * piece - 1, piece / 8);
    if (near) {
      before[static_cast<std::size_t>(which + 1)] = *near;
    } else {
      all_near = false;
    }
  });
  if (all_near) return before;
  for_pieces_on_all_cores(pieces - 1, 1, [&](std::int64_t which, std::int64_t, unsigned) {
    run of_piece(p);
    extend(of_piece, in_order(sources), which * piece, (which + 1) * piece, [](std::int64_t) {});
    before[static_cast<std::size_t>(which + 1)] = of_piece;
  });
  for (std::size_t k = 1; k < before.size(); ++k) {
    run all = before[k - 1];
    all.append(before[k]);
    before[k] = all;
  }
  return before;
}

// So many outputs of `terms` terms each are one core's at a time, `most` of them where they are cheap: of
// 2^16 terms together, long enough to be worth a core, and short enough that a few costly outputs have all
// cores.
constexpr std::int64_t piece_of(std::int64_t terms, std::int64_t most) {
  return std::clamp<std::int64_t>((1 << 16) / std::max<std::int64_t>(terms, 1), 1, most);
}

// Compares found outputs with the reference, on all cores.
template <class Problem, class Output>
class comparison {
 public:
  using parameters = typename Problem::parameters;
  using output_element = Output;

  // `terms` inputs make an output. Errors are bounded by relative_error times the scale of the output or
  // `min_scale`, whichever is larger.
  comparison(const parameters& p, std::int64_t terms, double relative_error, double min_scale,
             bool keeps_zero_signs)
      : parameters_(p),
        terms_(terms),
        relative_error_(relative_error),
        min_scale_(min_scale),
        keeps_zero_signs_(keeps_zero_signs) {}

  // What the stage's traits excuse from output `first` on: errors of up to `drift`, and NaN or Inf.
  void excuse(std::int64_t first, double drift, bool leaks) {
    first_excused_ = first;
    drift_ = drift;
    may_leak_ = leaks;
  }

  // What the stage declares to forget, as a part of the largest input.
  void forget(double part) { forgotten_ = part; }

  // Has outputs looked for whose error is beyond what a stage without traits may have.
  void look_beyond(double relative_error) { plain_error_ = relative_error; }

  // Compares found[k] with the reference of output indices[k], for all k; indices ascend. `sources` is a
  // tuple with a function for each input array: of an index, its element.
  template <class Sources>
  check_result run(const Sources& sources, const std::vector<std::int64_t>& indices,
                   const std::vector<output_element>& found) const {
    if constexpr (has_hook<Problem, reference_hook::reference_run>) {
      const auto near = run_near(sources, indices, found);
      return near ? *near : run_in_order(sources, indices, found);
    }
    const std::int64_t piece = piece_of(terms_, 1024);
    const auto count = static_cast<std::int64_t>(indices.size());
    std::vector<check_result> results(threads_for(count, piece));
    for_pieces_on_all_cores(count, piece, [&](std::int64_t begin, std::int64_t end, unsigned thread) {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t index = indices[static_cast<std::size_t>(k)];
        judge(reference_of<Problem>(sources, parameters_, index), index, found[static_cast<std::size_t>(k)],
              results[thread]);
      }
    });
    check_result total;
    add(results, total);
    return total;
  }

  // Adds what the cores have found, the first failure of all among it.
  void add(std::vector<check_result>& parts, check_result& total) const {
    total.relative_bound = relative_error_;
    for (check_result& part : parts) {
      total.compared += part.compared;
      total.largest_error = std::max(total.largest_error, part.largest_error);
      total.relative_error = std::max(total.relative_error, part.relative_error);
      total.drifted |= part.drifted;
      total.leaked |= part.leaked;
      total.forgot |= part.forgot;
      if (part.useless && (!total.useless || *part.useless->index < *total.useless->index))
        total.useless = std::move(part.useless);
      const bool earlier = part.failure && (!total.failure || *part.failure->index < *total.failure->index);
      if (earlier) total.failure = std::move(part.failure);
    }
  }

  // One output.
  void judge(const expectation& expected, std::int64_t index, output_element found,
             check_result& result) const {
    ++result.compared;
    if (plain_error_ < 0 && is_no_worse(expected, found, result)) return;
    bool right = false;
    const auto found_value = static_cast<long double>(found);
    if (std::isnan(expected.value)) {
      right = std::isnan(found_value);
    } else if (std::isinf(expected.value) || relative_error_ == 0) {
      right = found == static_cast<output_element>(expected.value);
      if (keeps_zero_signs_) right = right && std::signbit(found_value) == std::signbit(expected.value);
    } else if (std::isinf(found_value) && may_overflow(expected)) {
      right = true;  // the reference is wider than the element: what overflows there is no fault of the stage
    } else {
      const long double error = std::abs(found_value - expected.value);
      // The last term is for results among the denormals, whose spacing no relative bound reaches.
      const long double bound =
          static_cast<long double>(relative_error_) *
              std::max(expected.scale, static_cast<long double>(min_scale_)) +
          2 * static_cast<long double>(std::numeric_limits<output_element>::denorm_min());
      const long double declared = bound + forgotten_ * expected.largest;
      right = !std::isnan(error) && error <= declared;
      if (right && plain_error_ >= 0) look_at_error(expected, error, index, found_value, result);
      if (right) {
        raise(result.largest_error, error, declared);
        result.forgot |= error > bound;
        if (expected.scale > 0 && error <= bound) raise(result.relative_error, error, expected.scale);
      }
    }
    if (right || is_excused(expected, index, found_value, result)) return;
    if (result.failure && *result.failure->index < index) return;
    result.failure = failure_record{.kind = failure_kind::wrong,
                                    .index = index,
                                    .expected = number_text<output_element>(expected.value),
                                    .found = number_text<output_element>(found_value)};
  }

 private:
  // Along the inputs from the first one on: two passes over them.
  template <class Sources>
  check_result run_in_order(const Sources& sources, const std::vector<std::int64_t>& indices,
                            const std::vector<output_element>& found) const {
    const std::int64_t n = indices.empty() ? 0 : indices.back() + 1;
    const std::int64_t piece = std::clamp<std::int64_t>(n / 256, 1024, 1 << 18);
    const auto before = runs_before<Problem>(sources, parameters_, n, piece);
    const auto pieces = static_cast<std::int64_t>(before.size());
    std::vector<check_result> results(threads_for(pieces, 1));
    for_pieces_on_all_cores(pieces, 1, [&](std::int64_t which, std::int64_t, unsigned thread) {
      const std::int64_t first = which * piece;
      auto next = std::lower_bound(indices.begin(), indices.end(), first);
      const auto end = std::lower_bound(next, indices.end(), first + piece);
      if (next == end) return;
      auto run = before[static_cast<std::size_t>(which)];
      extend(run, in_order(sources), first, *(end - 1) + 1, [&](std::int64_t i) {
        if (*next != i) return;
        judge(run.expected(), i, found[static_cast<std::size_t>(next - indices.begin())], results[thread]);
        ++next;
      });
    });
    check_result total;
    add(results, total);
    return total;
  }

  // Each for itself, where all of them together need few of the inputs.
  template <class Sources>
  std::optional<check_result> run_near(const Sources& sources, const std::vector<std::int64_t>& indices,
                                       const std::vector<output_element>& found) const {
    if (indices.empty()) return std::nullopt;
    const auto count = static_cast<std::int64_t>(indices.size());
    const std::int64_t most = 2 * indices.back() / count;
    std::vector<check_result> results(threads_for(count, 1));
    std::atomic<bool> all_near = true;
    for_pieces_on_all_cores(count, 1, [&](std::int64_t k, std::int64_t, unsigned thread) {
      if (!all_near) return;
      const std::int64_t index = indices[static_cast<std::size_t>(k)];
      const auto near = near_run<Problem>(sources, parameters_, index, most);
      if (near) {
        judge(near->expected(), index, found[static_cast<std::size_t>(k)], results[thread]);
      } else {
        all_near = false;
      }
    });
    if (!all_near) return std::nullopt;
    check_result total;
    add(results, total);
    return total;
  }

  // Whether the error is surely below what was found before, by figures that are themselves a few roundings
  // wrong: so is nearly every output, in a fraction of the time that long double takes.
  bool is_no_worse(const expectation& expected, output_element found, const check_result& result) const {
    const auto value = static_cast<double>(expected.value);
    const auto scale = static_cast<double>(expected.scale);
    const double most = std::abs(static_cast<double>(found) - value) + 0x1p-50 * std::abs(value);
    return most < 0.999 * relative_error_ * result.largest_error * scale &&
           most < 0.999 * result.relative_error * scale && scale < std::numeric_limits<double>::max();
  }

  void look_at_error(const expectation& expected, long double error, std::int64_t index, long double found,
                     check_result& result) const {
    constexpr auto least = 2 * static_cast<long double>(std::numeric_limits<output_element>::denorm_min());
    if (error <= plain_error_ * expected.scale + least) return;
    result.forgot = true;
    const bool is_earlier = !result.useless || index < *result.useless->index;
    if (expected.value == 0 || error < std::abs(expected.value) / 2 || !is_earlier) return;
    result.useless = failure_record{.index = index,
                                    .expected = number_text<output_element>(expected.value),
                                    .found = number_text<output_element>(found)};
  }

  // Makes `largest` at least part / whole. A division takes longer than all else, and few are needed.
  static void raise(double& largest, long double part, long double whole) {
    if (part > static_cast<long double>(largest) * whole)
      largest = std::max(largest, static_cast<double>(part / whole));
  }

  bool is_excused(const expectation& expected, std::int64_t index, long double found,
                  check_result& result) const {
    if (index < first_excused_) return false;
    const bool leaked = may_leak_ && !std::isfinite(found);
    const bool drifted = drift_ > 0 && std::abs(found - expected.value) <= static_cast<long double>(drift_);
    result.leaked |= leaked;
    result.drifted |= drifted;
    return leaked || drifted;
  }

  // Whether the terms of an output, added up without their signs, leave the range of its element.
  [[nodiscard]] bool may_overflow(const expectation& expected) const {
    return expected.scale * static_cast<long double>(terms_) >
           static_cast<long double>(std::numeric_limits<output_element>::max());
  }

  parameters parameters_;
  std::int64_t terms_;
  double relative_error_;
  double min_scale_;
  bool keeps_zero_signs_;
  std::int64_t first_excused_ = std::numeric_limits<std::int64_t>::max();
  double drift_ = 0;
  bool may_leak_ = false;
  long double forgotten_ = 0;
  double plain_error_ = -1;  // negative: not looked for
};

// All of `found` against all of `right`, made on the device as well: integers must be equal; of real numbers
// two compilations may round differently, whose products and sums are fused or not.
template <class Output>
check_result compare_with(const std::vector<Output>& found, const std::vector<Output>& right) {
  constexpr double rounding = 1e-9;
  check_result result{.compared = static_cast<std::int64_t>(found.size())};
  for (std::size_t i = 0; i < found.size(); ++i) {
    bool is_right = found[i] == right[i];
    if constexpr (std::is_floating_point_v<Output>) {
      is_right = is_right || (std::isnan(found[i]) && std::isnan(right[i])) ||
                 std::abs(found[i] - right[i]) <= rounding * std::abs(right[i]);
    }
    if (is_right) continue;
    result.failure = failure_record{.kind = failure_kind::wrong,
                                    .index = static_cast<std::int64_t>(i),
                                    .expected = number_text<Output>(right[i]),
                                    .found = number_text<Output>(found[i])};
    break;
  }
  return result;
}

// Calls visit(i, exact key of output i) for first <= i < first + count; `unit` is exact_unit(p).
template <class Problem, class Output, class Sources, class Visit>
void exact_keys(const Sources& sources, const typename Problem::parameters& p, double unit,
                std::int64_t first, std::int64_t count, const Visit& visit) {
  if constexpr (has_hook<Problem, reference_hook::exact_outputs>) {
    // Already times the unit.
    const auto visit_scaled = [&](std::int64_t i, auto scaled) {
      if constexpr (std::is_integral_v<Output>) {
        visit(i, exact_key_of(static_cast<Output>(scaled), 0));
      } else {
        visit(i, exact_key(static_cast<double>(scaled), unit == 0 ? 0 : 1));
      }
    };
    std::apply(
        [&](const auto&... values) { Problem::exact_outputs(values..., p, first, count, visit_scaled); },
        sources);
  } else {
    for (std::int64_t i = first; i < first + count; ++i) {
      const auto output = static_cast<Output>(reference_of<Problem>(sources, p, i).value);
      visit(i, exact_key_of(output, unit));
    }
  }
}

// The digests of hash_exact() that right outputs first .. n - 1 have, in segments. To work one out costs
// `terms` terms.
template <class Problem, class Output, class Sources>
std::vector<std::uint64_t> exact_digests(const Sources& sources, const typename Problem::parameters& p,
                                         double unit, std::int64_t n, std::int64_t segment,
                                         std::int64_t first = 0, std::int64_t terms = 1) {
  const std::int64_t piece = piece_of(terms, 1 << 14);  // of a segment, by one core
  const std::int64_t pieces = (segment + piece - 1) / piece;
  const std::int64_t segments = (n - first + segment - 1) / segment;
  std::vector<std::atomic<std::uint64_t>> sums(static_cast<std::size_t>(segments));
  for_pieces_on_all_cores(segments * pieces, 1, [&](std::int64_t which, std::int64_t, unsigned) {
    const std::int64_t begin = first + which / pieces * segment + which % pieces * piece;
    const std::int64_t end = std::min({begin + piece, first + (which / pieces + 1) * segment, n});
    std::uint64_t sum = 0;
    if (begin < end) {
      std::array<std::uint64_t, 256> keys;
      std::size_t held = 0;
      const auto take = [&](std::int64_t i, std::uint64_t key) {
        keys[held++] = key;
        if (held < keys.size()) return;
        sum += sum_of_hashes(keys.data(), i + 1 - std::ssize(keys), std::ssize(keys));
        held = 0;
      };
      if constexpr (has_hook<Problem, reference_hook::exact_outputs>) {
        exact_keys<Problem, Output>(in_order(sources), p, unit, begin, end - begin, take);
      } else {
        exact_keys<Problem, Output>(sources, p, unit, begin, end - begin, take);
      }
      const auto rest = static_cast<std::int64_t>(held);
      sum += sum_of_hashes(keys.data(), end - rest, rest);
    }
    sums[static_cast<std::size_t>(which / pieces)] += sum;
  });
  return {sums.begin(), sums.end()};
}

}  // namespace lab
