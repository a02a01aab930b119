// The vocabulary of a problem with any number of input arrays and one output array. A track's problem.hpp
// describes itself with these, by the names below, and array_track.hpp turns that description into a track.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "common/cuda.hpp"
#include "harness/device/element_type.hpp"
#include "harness/device/inputs.hpp"
#include "harness/device/many_values.hpp"
#include "harness/device/parameter.hpp"
#include "harness/device/stage.hpp"

namespace lab {

// What the reference says of one output: its value, and the magnitude that its error is measured against (for
// a mean, the mean of the absolute inputs; 0 asks for equality).
struct expectation {
  long double value = 0;
  long double scale = 0;
  double largest = 0;  // of the inputs that it is made from: for stages that forget some of them
};

// The plain operation that moves the fewest bytes: half read and half written, all read, or all written.
enum class array_ceiling { copy, read, write };
inline constexpr const char* array_ceiling_names[] = {"copy", "read", "write"};

// What an input of a trial is made of.
struct drawn_input {
  pattern kind;
  std::uint64_t seed;
};

// Element j of a generated input. What it is made from can be read, so that a costly reference can be
// remembered.
template <class T>
struct generated_values : drawn_input {
  T operator()(std::int64_t j) const { return input_value<T>(kind, seed, j); }
  // to[k] = element first + k * step, for k < count.
  void values(std::int64_t first, std::int64_t step, std::int64_t count, T* to) const {
    input_values(kind, seed, first, step, count, to);
  }

  // No finite element among the first n is larger.
  [[nodiscard]] double largest(std::int64_t n) const {
    return kind == pattern::spikes ? 1e16 : largest_magnitude(kind, n);
  }
};

// to[k] = value(first + k * step) for k < count; of generated inputs many at a time.
template <class T>
void read_values(const auto& value, std::int64_t first, std::int64_t step, std::int64_t count, T* to) {
  if constexpr (requires { value.values(first, step, count, to); }) {
    value.values(first, step, count, to);
  } else {
    for (std::int64_t k = 0; k < count; ++k) to[k] = value(first + k * step);
  }
}

// Generated values for one thread that goes through them in order, at up to two indices at a time (what
// enters a window, and what leaves it): made many at a time. What is asked for elsewhere is made by itself.
template <class T>
class values_in_order : public generated_values<T> {
 public:
  values_in_order() = default;
  explicit values_in_order(const generated_values<T>& of) : generated_values<T>(of) {}

  T operator()(std::int64_t j) const {
    for (run& one : runs_) {
      const auto offset = static_cast<std::uint64_t>(j - one.first);
      if (offset < one.count) return one.values[offset];
      if (offset == one.count) return first_of_next(one, j);
    }
    // Whether it begins a run is known when the next one is asked for.
    run& other = runs_[turn_++ % runs_.size()];
    other.first = j + 1;
    other.count = 0;
    return generated_values<T>::operator()(j);
  }

 private:
  static constexpr std::int64_t at_once = 256;
  struct run {
    std::int64_t first = -1;
    std::uint64_t count = 0;
    std::array<T, at_once> values;
  };

  T first_of_next(run& one, std::int64_t j) const {
    this->values(j, 1, at_once, one.values.data());
    one.first = j;
    one.count = at_once;
    return one.values[0];
  }

  mutable std::array<run, 2> runs_;
  mutable std::size_t turn_ = 0;
};

// The element types of a problem's arrays.
template <class Output, class... Inputs>
struct element_types {
  static constexpr std::size_t inputs = sizeof...(Inputs);
};

// Calls visit(element_types<...>{}) with the types that the parameters ask for: the problem's `elements`,
// unless it has a function of this name that chooses by the parameters.
template <class Problem, class Visit>
auto with_elements(const typename Problem::parameters& p, const Visit& visit) {
  if constexpr (requires { Problem::with_elements(p, visit); }) {
    return Problem::with_elements(p, visit);
  } else {
    return visit(typename Problem::elements{});
  }
}

// One array: its name, for messages, its extents, the last one contiguous, and the type of its elements,
// which is that of the problem's `elements` and need not be said.
struct array_member {
  const char* name = "";
  std::vector<std::int64_t> shape;
  element_type type = element_type::float64;
  // Of an input: the pattern of this array in a trial of a pattern; nullptr: the same.
  pattern (*pattern_in)(pattern of_trial) = nullptr;

  [[nodiscard]] std::int64_t size() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
};

// What a problem's arrays are for given parameters, and the least that any solution does with them.
struct array_layout {
  std::vector<array_member> inputs;
  array_member output;
  std::int64_t terms = 1;          // of the inputs, that one output depends on: what recomputing one costs
  std::int64_t fewest_bytes = -1;  // that must be read and written; -1: all of the arrays once
  // Of them, those written, where that is not half (a copy), none or all.
  std::optional<std::int64_t> written_bytes = {};
  // The fewest arithmetic operations (a multiplication and an addition are two), where these may take longer
  // than the bytes, and the unit that does them.
  double operations = 0;
  const char* unit = "fp32";
};

// What input k of a trial is made of. The seed is that of the trial for the first input, and for the patterns
// in which it is an index.
inline drawn_input drawn(const array_member& input, pattern of_trial, std::uint64_t seed, std::size_t k) {
  const pattern kind = input.pattern_in == nullptr ? of_trial : input.pattern_in(of_trial);
  const bool is_index = kind == pattern::lone_maximum || kind == pattern::lone_minimum ||
                        kind == pattern::lone_nan || kind == pattern::lone_infinity ||
                        kind == pattern::one_changed;
  return {kind, k == 0 || is_index ? seed : random_bits(seed, k)};
}

// One input that a stage must get right.
template <class Parameters>
struct verification_case {
  Parameters parameters;
  pattern input = pattern::random;
  bool brief = false;                      // one of many sizes: a single launch will do
  std::optional<std::int64_t> index = {};  // of the lone value, for the patterns that have one
};

// What a problem's cases(tile, thorough, seed) are.
template <class Parameters>
using cases_of = std::vector<verification_case<Parameters>>;

// An input that shows, at any size, when one element is left out, doubled or moved.
struct exact_case {
  pattern input = pattern::random;
  std::optional<std::int64_t> index = {};  // of the lone value, for the patterns that have one
};

// Sizes of every residue of the powers of two up to 1024 (on the emulator up to 128, by the time that it
// takes), some of the residues of the tile, and larger ones of every residue of a warp, drawn by `seed`.
inline std::vector<std::int64_t> residue_sizes(std::int64_t tile, std::uint64_t seed) {
  constexpr std::int64_t small_sizes = emulated ? 130 : 1100;
  constexpr std::uint64_t drawn_sizes = emulated ? 32 : 96;
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = 0; n < small_sizes; ++n) sizes.push_back(n);
  for (std::uint64_t k = 0; k < drawn_sizes; ++k) {
    const std::uint64_t bits = random_bits(seed ^ 0x517e, k);
    sizes.push_back(tile * static_cast<std::int64_t>(1 + (bits >> 48) % 3) +
                    static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(tile)));
  }
  constexpr std::int64_t warp = 32;
  for (std::int64_t k = 0; k < warp; ++k) {
    const std::uint64_t bits = random_bits(seed ^ 0x3a2b, static_cast<std::uint64_t>(k));
    sizes.push_back(warp * static_cast<std::int64_t>(10 + bits % 90) + k);
  }
  return sizes;
}

// Indices at which a lone value shows most: both ends, both sides of the borders of tiles and warps, and some
// drawn by `seed`.
inline std::vector<std::int64_t> telling_indices(std::int64_t n, std::int64_t tile, std::uint64_t seed) {
  std::vector<std::int64_t> all{0,     1,    31, 32, tile - 1, tile, n / tile * tile - 1, n / tile * tile,
                                n - 2, n - 1};
  for (std::uint64_t k = 0; k < 6 && n > 0; ++k)
    all.push_back(static_cast<std::int64_t>(random_bits(seed ^ 0x10e, k) % static_cast<std::uint64_t>(n)));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::erase_if(all, [n](std::int64_t index) { return index < 0 || index >= n; });
  return all;
}

// What a problem derives from whose elements have these types, whatever its parameters. What it says itself
// replaces what is said here.
template <class Output, class... Inputs>
struct array_problem {
  using elements = element_types<Output, Inputs...>;
  static constexpr const char* unit = "element";
  static constexpr array_ceiling ceiling = array_ceiling::copy;
  // Nothing rounds: results must be equal.
  static double relative_error(const auto& /*p*/) { return 0; }
};

// Faster ways to the results of generated inputs, which a problem may have beside reference(). They are
// templates, called with a value(j) for each input, and a problem names those that it has:
//
//   static constexpr auto reference_hooks = reference_hook::exact_outputs | reference_hook::stream;
enum class reference_hook : unsigned {
  // exact_outputs(value..., p, first, count, visit) calls visit(i, output i times exact_unit(p)), exact
  // results, for first <= i < first + count.
  exact_outputs = 1,
  // stream(value..., p, first, count, visit) calls visit(i, expectation of output i) likewise, where some
  // results of exact inputs round.
  stream = 2,
  // For outputs that each need all inputs before them, `reference_run` is a class: what is known of
  // neighbouring inputs. add(value...) makes it longer by one element of each input, append(run) by the run
  // behind it, and expected() is the output at the end of a run from the first input on. Any number of
  // outputs then takes two passes over the inputs, whatever these are. It may have add_all(value..., first,
  // count), which adds `count` elements faster than one by one.
  reference_run = 4,
  // first_needed(value..., p, i, most): the input from which on a reference_run has output i; none, where
  // that is more than `most` inputs away.
  first_needed = 8
};
constexpr reference_hook operator|(reference_hook a, reference_hook b) {
  return static_cast<reference_hook>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

// A problem whose arrays are spread over several GPUs (group_workload.hpp) has a `launch_function` of its
// own: its stages' `input` and `output` are bound to one pointer for each GPU.
template <class Problem>
concept is_spread = requires {
  typename Problem::launch_function;
};

}  // namespace lab
