// The histogram of n keys: how many of them have each of the 256 values of a byte, or each of the first 2^16
// values of 32 bits. Larger keys are not counted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/device/array_problem.hpp"
#include "harness/device/fold.hpp"

namespace lab::histogram {

inline constexpr int byte_bins = 256;
inline constexpr int word_bins = 1 << 16;

// The values of the parameters `type` and `content`: what the keys are, and which a timed input has.
enum class key_type : std::int64_t { uint8, uint32 };
enum class content : std::int64_t { uniform, one_value, sorted, mostly_one };

// n keys in device memory, aligned to 256 bytes.
struct input {
  const void* keys;
  std::int64_t n;
  key_type type;

  [[nodiscard]] const unsigned char* bytes() const { return static_cast<const unsigned char*>(keys); }
  [[nodiscard]] const std::uint32_t* words() const { return static_cast<const std::uint32_t*>(keys); }
};

// 256 or 65 536 counts in device memory.
struct output {
  std::uint32_t* counts;
};

// How often each of the keys 0 .. bins - 1 is among value(0) .. value(n - 1).
template <class Value>
std::vector<std::int64_t> counts_of(const Value& value, std::int64_t n, std::int64_t bins) {
  constexpr std::int64_t piece = 1 << 16;
  std::vector<std::vector<std::int64_t>> of_thread(threads_for(n, piece),
                                                   std::vector<std::int64_t>(static_cast<std::size_t>(bins)));
  for_pieces_on_all_cores(n, piece, [&](std::int64_t begin, std::int64_t end, unsigned thread) {
    for_pieces_of<256>(value, begin, end - begin,
                       [&](std::int64_t first, std::int64_t some, const auto& its_value) {
                         for (std::int64_t j = first; j < first + some; ++j)
                           if (its_value(j) < bins) ++of_thread[thread][its_value(j)];
                         return true;
                       });
  });
  for (std::size_t k = 1; k < of_thread.size(); ++k)
    std::transform(of_thread[0].begin(), of_thread[0].end(), of_thread[k].begin(), of_thread[0].begin(),
                   std::plus<>());
  return of_thread[0];
}

struct problem {
  using input = histogram::input;
  using output = histogram::output;

  struct parameters {
    std::int64_t n = 0;
    std::int64_t content = 0;
    std::int64_t type = 0;
  };

  static constexpr const char* title = "Histogram of keys";
  static constexpr const char* unit = "count";
  static double relative_error(const parameters& /*p*/) { return 0; }
  static constexpr array_ceiling ceiling = array_ceiling::read;

  static std::vector<parameter<parameters>> describe() {
    return {{.name = "n",
             .member = &parameters::n,
             .meaning = "keys, at most 2^31 - 1",
             .bench = {1'000'000'000},
             .emulator_bench = {200'000}},
            {.name = "content",
             .member = &parameters::content,
             .meaning = "what the timed keys are: any, all the same, in order, or nine of ten the same",
             .bench = {"uniform", "one_value"},
             .emulator_bench = {"uniform"},
             .choices = {{0, "uniform"}, {1, "one_value"}, {2, "sorted"}, {3, "mostly_one"}},
             .apply_default = "uniform"},
            {.name = "type",
             .member = &parameters::type,
             .meaning = "type of the keys",
             .bench = {"uint8", "uint32"},
             .choices = {{0, "uint8"}, {1, "uint32"}}}};
  }

  template <class Visit>
  static auto with_elements(const parameters& p, const Visit& visit) {
    if (static_cast<key_type>(p.type) == key_type::uint32)
      return visit(element_types<std::uint32_t, std::uint32_t>{});
    return visit(element_types<std::uint32_t, unsigned char>{});
  }

  static std::int64_t bins(const parameters& p) {
    return static_cast<key_type>(p.type) == key_type::uint8 ? byte_bins : word_bins;
  }

  // Every key is read once.
  static array_layout layout(const parameters& p) {
    return {.inputs = {{"keys", {p.n}}}, .output = {"counts", {bins(p)}}, .terms = p.n};
  }
  static input bind_input(const parameters& p, const void* keys) {
    return {keys, p.n, static_cast<key_type>(p.type)};
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
    const auto counts = counts_of(value, p.n, bins(p));
    for (std::int64_t i = first; i < first + count; ++i) visit(i, counts[static_cast<std::size_t>(i)]);
  }

  // Sizes around the multiples of a block's bytes.
  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

// Why a stage that counts bytes alone does not take p.
inline std::string bytes_alone(const problem::parameters& p) {
  return static_cast<key_type>(p.type) == key_type::uint8
             ? ""
             : "keys must be uint8: its copies of the bins are of 256";
}

}  // namespace lab::histogram
