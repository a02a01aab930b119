// What references work out one after another: of a problem's reference_run (array_problem.hpp), on all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "common/all_cores.hpp"
#include "harness/device/array_hooks.hpp"
#include "harness/device/array_problem.hpp"

namespace lab {

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

// The same, many at a time where the run can: nothing is asked of it in between.
template <class Run, class Sources>
void extend(Run& run, const Sources& sources, std::int64_t first, std::int64_t end) {
  const auto add_all = [&](const auto&... value) {
    if constexpr (requires { run.add_all(value..., first, end - first); }) {
      run.add_all(value..., first, end - first);
    } else {
      extend(run, in_order(sources), first, end, [](std::int64_t) {});
    }
  };
  std::apply(add_all, sources);
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
    extend(run, sources, *first, i + 1);
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
    extend(of_piece, sources, which * piece, (which + 1) * piece);
    before[static_cast<std::size_t>(which + 1)] = of_piece;
  });
  for (std::size_t k = 1; k < before.size(); ++k) {
    run all = before[k - 1];
    all.append(before[k]);
    before[k] = all;
  }
  return before;
}

}  // namespace lab
