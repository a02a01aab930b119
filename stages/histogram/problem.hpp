// The histogram of n bytes: how many of them have each of the 256 values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "harness/device/array_problem.hpp"
#include "harness/device/fold.hpp"

namespace lab::histogram {

inline constexpr int bins = 256;

// The values of the parameter `content`: what the bytes of a timed input are.
enum class content : std::int64_t { uniform, one_value, sorted, mostly_one };

// n bytes in device memory, aligned to 256 bytes.
struct input {
  const unsigned char* bytes;
  std::int64_t n;
};

// 256 counts in device memory.
struct output {
  std::uint32_t* counts;
};

// How often each value of a byte is among value(0) .. value(n - 1).
template <class Value>
std::array<std::int64_t, bins> counts_of(const Value& value, std::int64_t n) {
  using counts = std::array<std::int64_t, bins>;
  const auto count_piece = [&](std::int64_t first, std::int64_t count) {
    counts found{};
    for_pieces_of<256>(value, first, count,
                       [&](std::int64_t begin, std::int64_t some, const auto& its_value) {
                         for (std::int64_t j = begin; j < begin + some; ++j) ++found[its_value(j)];
                         return true;
                       });
    return found;
  };
  const auto add = [](counts a, const counts& b) {
    for (std::size_t bin = 0; bin < a.size(); ++bin) a[bin] += b[bin];
    return a;
  };
  return fold_in_parts(count_piece, add, n);
}

struct problem : array_problem<std::uint32_t, unsigned char> {
  using input = histogram::input;
  using output = histogram::output;

  struct parameters {
    std::int64_t n = 0;
    std::int64_t content = 0;
  };

  static constexpr const char* title = "Histogram of bytes, 256 bins";
  static constexpr const char* unit = "count";
  static constexpr array_ceiling ceiling = array_ceiling::read;

  static std::vector<parameter<parameters>> describe() {
    return {{.name = "n",
             .member = &parameters::n,
             .meaning = "bytes, at most 2^31 - 1",
             .bench = {1'000'000'000},
             .emulator_bench = {200'000}},
            {.name = "content",
             .member = &parameters::content,
             .meaning = "what the timed bytes are: any, all the same, in order, or nine of ten the same",
             .bench = {"uniform", "one_value"},
             .emulator_bench = {"uniform"},
             .choices = {{0, "uniform"}, {1, "one_value"}, {2, "sorted"}, {3, "mostly_one"}},
             .apply_default = "uniform"}};
  }

  // Every byte is read once.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"bytes", {p.n}}}, .output = {"counts", {bins}}, .terms = p.n};
  }

  template <class Value>
  static expectation reference(const Value& value, const parameters& p, std::int64_t i) {
    std::int64_t count = 0;
    for (std::int64_t j = 0; j < p.n; ++j) count += value(j) == i ? 1 : 0;
    return {.value = static_cast<long double>(count)};
  }

  // All counts in one pass.
  static constexpr auto reference_hooks = reference_hook::exact_outputs;
  template <class T, class Visit>
  static void exact_outputs(const generated_values<T>& value, const parameters& p, std::int64_t first,
                            std::int64_t count, const Visit& visit) {
    const auto counts = counts_of(value, p.n);
    for (std::int64_t i = first; i < first + count; ++i) visit(i, counts[static_cast<std::size_t>(i)]);
  }

  // Sizes around the multiples of a block's bytes.
  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

}  // namespace lab::histogram
