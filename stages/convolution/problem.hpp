// A 2-D filter of an image of rows x columns float32 values, which lies row by row: with taps = 2 radius + 1,
//
//   filtered(y, x) = sum of filter(i, j) image(y + i - radius, x + j - radius), 0 <= i, j < taps.
//
// The filter is not flipped, as in deep learning. Beyond the edges the image is zero, its nearest value
// (clamp), or the value as far inside (mirror: c b | a b c). Zeros are multiplied, too: 0 x Inf is NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "harness/device/array_problem.hpp"
#include "harness/device/stage.hpp"

namespace lab::convolution {

inline constexpr int most_radius = 16;

// The values of the parameters `edge` and `filter`.
enum class edge : std::int64_t { zero, clamp, mirror };
enum class filter_kind : std::int64_t { general, separable };

// The image has rows x columns values in device memory. A general filter has taps x taps; a separable one has
// taps for the rows, then taps for the columns, and its value (i, j) is the product of the two. Both begin at
// a multiple of 256 bytes.
struct input {
  const float *image, *filter;
  std::int64_t rows, columns;
  int radius;
  convolution::edge edge;
  filter_kind kind;
};

// rows x columns values in device memory, from a multiple of 256 bytes on.
struct output {
  float* filtered;
};

struct problem : array_problem<float, float, float> {
  using input = convolution::input;
  using output = convolution::output;

  struct parameters {
    std::int64_t rows = 0, columns = 0, radius = 1, edge = 0, filter = 0;
  };

  static constexpr const char* title = "2-D convolution, float32";
  static constexpr const char* unit = "value";

  static std::vector<parameter<parameters>> describe() {
    return {{.name = "rows",
             .member = &parameters::rows,
             .meaning = "rows of the image",
             .bench = {8192},
             .emulator_bench = {128}},
            {.name = "columns",
             .member = &parameters::columns,
             .meaning = "columns of the image",
             .bench = {8192},
             .emulator_bench = {256}},
            {.name = "radius",
             .member = &parameters::radius,
             .meaning = "of the filter, which has 2 radius + 1 rows and columns; 1 to 16",
             .minimum = 1,
             .bench = {2, 8},
             .emulator_bench = {2}},
            {.name = "edge",
             .member = &parameters::edge,
             .meaning = "what the image is beyond its edges",
             .bench = {"zero"},
             .emulator_bench = {"zero"},
             .choices = {{0, "zero"}, {1, "clamp"}, {2, "mirror"}},
             .apply_default = "zero"},
            {.name = "filter",
             .member = &parameters::filter,
             .meaning = "general: any; separable: a column times a row, given as the two rows of a matrix",
             .bench = {"general", "separable"},
             .emulator_bench = {"general", "separable"},
             .choices = {{0, "general"}, {1, "separable"}}}};
  }

  static bool is_separable(const parameters& p) {
    return p.filter == static_cast<std::int64_t>(filter_kind::separable);
  }
  static std::int64_t taps(const parameters& p) { return 2 * p.radius + 1; }

  // Weights where the image has special values. A separable filter may be applied along the rows or the
  // columns first, or by the products of its weights. The three agree where no Inf is among the weights and
  // no product of two leaves the range of a float32. Denormals times whole numbers have exact results. No
  // trial has images that are wide, large or extremes: sums along the rows could overflow there.
  static pattern weights_of_separable(pattern image) {
    switch (image) {
      case pattern::nonfinite:
      case pattern::infinite:
      case pattern::lone_infinity:
      case pattern::spikes:
      case pattern::wide:
      case pattern::large:
      case pattern::extremes:
        return pattern::signed_random;
      default:
        return weights_of_general(image);
    }
  }
  static pattern weights_of_general(pattern image) {
    return image == pattern::denormal ? pattern::small_integers : image;
  }

  // The image is read once, and as many values are written. A general filter takes taps^2 products and
  // additions for each; a separable one can be applied along the rows, and then along the columns.
  static array_layout layout(const parameters& p) {
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(float));
    const std::int64_t filter_rows = is_separable(p) ? 2 : taps(p);
    return {.inputs = {{"image", {p.rows, p.columns}},
                       {.name = "filter",
                        .shape = {filter_rows, taps(p)},
                        .pattern_in = is_separable(p) ? weights_of_separable : weights_of_general}},
            .output = {"filtered", {p.rows, p.columns}},
            .terms = taps(p) * taps(p),
            .fewest_bytes = 2 * bytes * p.rows * p.columns,
            .operations = 2 * static_cast<double>(filter_rows * taps(p)) * static_cast<double>(p.rows) *
                          static_cast<double>(p.columns)};
  }
  static input bind_input(const parameters& p, const float* image, const float* filter) {
    return {image,
            filter,
            p.rows,
            p.columns,
            static_cast<int>(p.radius),
            static_cast<convolution::edge>(p.edge),
            static_cast<filter_kind>(p.filter)};
  }
  static output bind_output(const parameters& /*p*/, float* filtered) { return {filtered}; }

  // Which value stands for the one at `i`, one reflection after another; -1 for zero.
  static std::int64_t stand_in(std::int64_t i, std::int64_t n, std::int64_t edge) {
    while (i < 0 || i >= n) {
      if (edge == 0) return -1;
      if (edge == 1 || n == 1) return i < 0 ? 0 : n - 1;
      i = i < 0 ? -i : 2 * (n - 1) - i;
    }
    return i;
  }

  // A product of two float32 is exact in float64, and what rounds there is 2^-29 of what rounds in float32.
  static expectation reference(const auto& image, const auto& filter, const parameters& p, std::int64_t at) {
    double sum = 0;
    double magnitude = 0;
    for (std::int64_t i = 0; i < taps(p); ++i) {
      const std::int64_t y = stand_in(at / p.columns + i - p.radius, p.rows, p.edge);
      for (std::int64_t j = 0; j < taps(p); ++j) {
        const std::int64_t x = stand_in(at % p.columns + j - p.radius, p.columns, p.edge);
        const double weight = is_separable(p)
                                  ? static_cast<double>(filter(i)) * static_cast<double>(filter(taps(p) + j))
                                  : static_cast<double>(filter(i * taps(p) + j));
        const double term =
            y < 0 || x < 0 ? weight * 0 : weight * static_cast<double>(image(y * p.columns + x));
        sum += term;
        magnitude += std::abs(term);
      }
    }
    return {.value = sum, .scale = magnitude};
  }

  static constexpr auto reference_hooks = reference_hook::exact_outputs;
  template <class Visit>
  static void exact_outputs(const auto& image, const auto& filter, const parameters& p, std::int64_t first,
                            std::int64_t count, const Visit& visit);

  // A term passes through the rounding of its product, of its weight where that is a product, too, and of at
  // most taps^2 - 1 additions, in any order: k u / (1 - k u) of the sum of magnitudes, u = 2^-24 (Higham,
  // "Accuracy and Stability of Numerical Algorithms", 2002, section 3.1).
  static double relative_error(const parameters& p) {
    const double error = static_cast<double>(taps(p) * taps(p) + 2) * 0x1p-24;
    return error / (1 - error);
  }

  static cases_of<parameters> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

// Of whole numbers, row by row: sums in float64 have no roundings in any order. A line is a row of the image
// with what lies beyond its ends, or with a separable filter what the filter's row makes of it.
template <class Visit>
void problem::exact_outputs(const auto& image, const auto& filter, const parameters& p, std::int64_t first,
                            std::int64_t count, const Visit& visit) {
  const std::int64_t end = first + count, first_row = first / p.columns, last_row = (end - 1) / p.columns;
  const std::int64_t begin_x = first_row == last_row ? first % p.columns : 0;
  const std::int64_t end_x = first_row == last_row ? begin_x + count : p.columns;
  const std::int64_t width = end_x - begin_x, padded = width + 2 * p.radius;
  const bool separable = is_separable(p);
  std::vector<float> weights(static_cast<std::size_t>((separable ? 2 : taps(p)) * taps(p)));
  read_values(filter, 0, 1, std::ssize(weights), weights.data());
  std::vector<float> row(static_cast<std::size_t>(padded));
  std::vector<std::vector<double>> lines;
  for (std::int64_t y = first_row - p.radius; y <= last_row + p.radius; ++y) {
    std::fill(row.begin(), row.end(), 0.0F);
    if (const std::int64_t from = stand_in(y, p.rows, p.edge); from >= 0) {
      const std::int64_t inside = std::max<std::int64_t>(begin_x - p.radius, 0);
      const std::int64_t inside_end = std::min(end_x + p.radius, p.columns);
      read_values(image, from * p.columns + inside, 1, inside_end - inside,
                  row.data() + (inside - begin_x + p.radius));
      for (std::int64_t x = begin_x - p.radius; x < end_x + p.radius; ++x) {
        if (x >= 0 && x < p.columns) continue;
        const std::int64_t at = stand_in(x, p.columns, p.edge);
        if (at >= 0) row[static_cast<std::size_t>(x - begin_x + p.radius)] = image(from * p.columns + at);
      }
    }
    std::vector<double>& line = lines.emplace_back(row.begin(), row.end());
    if (!separable) continue;
    std::vector<double> filtered(static_cast<std::size_t>(width));
    for (std::int64_t j = 0; j < taps(p); ++j)
      add_weighted(weights[static_cast<std::size_t>(taps(p) + j)], line.data() + j, width, filtered.data());
    line = std::move(filtered);
  }
  std::vector<double> sums(static_cast<std::size_t>(width));
  for (std::int64_t y = first_row; y <= last_row; ++y) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t i = 0; i < taps(p); ++i) {
      const double* const line = lines[static_cast<std::size_t>(y - first_row + i)].data();
      const float* const own = weights.data() + (separable ? i : i * taps(p));
      for (std::int64_t j = 0; j < (separable ? 1 : taps(p)); ++j)
        add_weighted(own[j], line + j, width, sums.data());
    }
    for (std::int64_t x = 0; x < width; ++x) {
      const std::int64_t at = y * p.columns + begin_x + x;
      if (at >= first && at < end) visit(at, sums[static_cast<std::size_t>(x)]);
    }
  }
}

}  // namespace lab::convolution
