// What the stages of the convolution are tried on.
#include "harness/device/array_track.hpp"
#include "harness/device/case_inputs.hpp"
#include "stages/convolution/problem.hpp"

namespace lab::convolution {

namespace {

using case_list = cases_of<problem::parameters>;

void add(case_list& list, std::int64_t rows, std::int64_t columns, std::int64_t radius, std::int64_t edge = 0,
         pattern kind = pattern::small_integers, filter_kind filter = filter_kind::general) {
  list.push_back({{rows, columns, radius, edge, static_cast<std::int64_t>(filter)}, kind, true});
}

// What is nearest to p for stages that need rows of whole vectors, and for those of the other kind of filter.
std::vector<problem::parameters> alternatives(const problem::parameters& p, pattern /*input*/) {
  problem::parameters whole = p, other = p;
  whole.columns = (p.columns + 3) / 4 * 4;
  other.filter = 1 - p.filter;
  problem::parameters both = whole;
  both.filter = other.filter;
  return {whole, other, both};
}

std::string why_invalid(const problem::parameters& p) {
  if (p.radius > most_radius) return "radius must be at most 16";
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (p.columns > 0 && p.rows > most / p.columns) return "rows x columns must be at most 2^40";
  return "";
}

// The radius is that of the filter.
parameter_values parameters_of_files(const std::vector<npy_header>& headers,
                                     const std::vector<std::string>& paths) {
  const auto [rows, columns] = extents<2>(headers.at(0), paths.at(0));
  const auto [filter_rows, taps] = extents<2>(headers.at(1), paths.at(1));
  if (taps % 2 == 0 || (filter_rows != taps && filter_rows != 2))
    throw usage_error(paths.at(1) + ": a filter has an odd number of columns, and as many rows, or 2");
  return {{"rows", rows},
          {"columns", columns},
          {"radius", taps / 2},
          {"filter", filter_rows == 2 ? "separable" : "general"}};
}

}  // namespace

case_list problem::cases(std::int64_t /*tile*/, bool thorough, std::uint64_t seed) {
  // Ragged in both directions, at every kind of edge.
  case_list list = {{{37, 133, 2, 0, 0}, pattern::random},
                    {{64, 128, 3, 1, 0}, pattern::signed_random},
                    {{5, 9, 4, 2, 0}, pattern::random}};
  add(list, 0, 5, 1);
  if (!thorough) return list;

  add(list, 5, 0, 1);
  // Images that are smaller than the filter, and every radius.
  for (const std::int64_t n : {1, 2, 3, 7}) {
    for (std::int64_t edge = 0; edge < 3; ++edge) {
      add(list, n, 1 + 2 * edge, 4, edge);
      add(list, 1 + 2 * edge, n, 16, edge);
    }
  }
  for (std::int64_t radius = 1; radius <= most_radius; ++radius) {
    const std::uint64_t bits = random_bits(seed ^ 0x517e, static_cast<std::uint64_t>(radius));
    const auto drawn = [&](int shift, std::int64_t most) {
      return 1 + static_cast<std::int64_t>((bits >> shift) % static_cast<std::uint64_t>(most));
    };
    add(list, drawn(0, 40), drawn(16, 150), radius, radius % 3);
    add(list, drawn(32, 20), 4 * drawn(40, 12), radius, (radius + 1) % 3, pattern::small_integers,
        filter_kind::separable);
  }
  for (std::int64_t edge = 0; edge < 3; ++edge)
    add(list, 3, 8, 9, edge, pattern::small_integers, filter_kind::separable);
  // Around the tiles of every stage.
  for (const std::int64_t rows : {31, 33, 64})
    for (const std::int64_t columns : {127, 128, 129}) add(list, rows, columns, 1 + rows % 3, columns % 3);
  // Long rows at every kind of edge, of every residue of 4.
  for (std::int64_t k = 0; k < 12; ++k) add(list, 1 + 2 * (k % 5), 1'300 + k, 1 + 5 * k % most_radius, k % 3);
  add(list, 1, 4'003, 1);
  add(list, 4'003, 1, 1, 2);
  add(list, 70'001, 1, 1);
  add(list, 1, 70'001, 1, 1);
  for (const pattern kind : {pattern::signed_random, pattern::spikes, pattern::denormal, pattern::ramp,
                             pattern::nonfinite, pattern::infinite, pattern::lone_infinity})
    add(list, 35, 76, 2, 1, kind);
  for (std::int64_t edge = 0; edge < 3; ++edge) {
    add(list, 35, 76, 2, edge, pattern::zeros_and_inf);
    add(list, 35, 76, 2, edge, pattern::zeros_and_inf, filter_kind::separable);
  }
  for (const pattern kind : patterns_of_one_kind())
    add(list, 6, 36, 1, static_cast<std::int64_t>(list.size() % 3), kind);
  add(list, 3, 8, 2, 0, pattern::positive_infinity);  // zeros beyond the edge are multiplied
  // A NaN in a corner, at the borders of tiles, and in the middle: in the square around it, and nowhere else.
  for (const std::int64_t index : {std::int64_t{49}, 4 * std::int64_t{136} - 1, 31 * std::int64_t{136} + 31,
                                   32 * std::int64_t{136} + 128, 36 * std::int64_t{136} - 1}) {
    list.push_back({{36, 136, 3, index % 3, 0}, pattern::lone_nan, true, index});
  }
  if constexpr (!emulated) {
    add(list, 1'001, 1'999, 5, 1);
    add(list, 1, 3'000'019, 2, 2);
    add(list, 3'000'019, 1, 2, 2);
    // Indices beyond 32 bits.
    add(list, 70'004, 61'360, 1);
  }
  return list;
}

namespace {
// Sums of 33^2 products of -31 .. 31 are within 1 046 529, and 2^24 is 16 times that. With a third factor
// they walk at random: 33 x 5800 is a standard deviation of 191 000, and 2^24 is 88 of them. Of images beyond
// 2^30 values a sample is compared.
const array_track_registration<problem> registered{
    LAB_PATH,
    {.why_invalid = why_invalid,
     .alternatives = alternatives,
     .parameters_of_files = parameters_of_files,
     .exact_cases = exact_with<pattern::small_integers>,
     .streams = [](const problem::parameters& p) { return p.rows * p.columns <= std::int64_t{1} << 30; }}};
}  // namespace

}  // namespace lab::convolution
