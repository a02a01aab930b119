// What the stages of the matrix product of bfloat16 are tried on.
#include "harness/device/array_track.hpp"
#include "harness/device/case_inputs.hpp"
#include "stages/matrix_product_bf16/problem.hpp"

namespace lab::matrix_product_bf16 {

namespace {

using case_list = std::vector<verification_case<problem::parameters>>;

// What is nearest to p for stages whose rows begin at multiples of 16 bytes, and for those of whole tiles.
std::vector<problem::parameters> alternatives(const problem::parameters& p, pattern /*input*/) {
  const auto up = [](std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; };
  return {{p.m, up(p.n, 8), up(p.k, 8)}, {up(p.m, 16), up(p.n, 16), up(p.k, 16)}};
}

std::string why_invalid(const problem::parameters& p) {
  constexpr std::int64_t most = std::int64_t{1} << 46;
  const auto fits = [](std::int64_t rows, std::int64_t columns) {
    return columns == 0 || rows <= most / columns;
  };
  if (fits(p.m, p.k) && fits(p.k, p.n) && fits(p.m, p.n)) return "";
  return "A, B and C may have 2^46 elements each";
}

// Products of -31 .. 31 are whole numbers, whose sums walk at random, 330 a step: after 2^22 steps they are
// within 6.8e5, and 2^24 is 24 times that.
bool is_exact(const problem::parameters& p) {
  return p.k <= std::int64_t{1} << 22;
}

std::vector<exact_case> exact_cases(const problem::parameters& p, std::int64_t /*tile*/,
                                    std::uint64_t /*seed*/) {
  return is_exact(p) ? std::vector<exact_case>{{pattern::small_integers}} : std::vector<exact_case>{};
}

parameter_values parameters_of_files(const std::vector<npy_header>& headers,
                                     const std::vector<std::string>& paths) {
  const auto [m, k] = extents<2>(headers.at(0), paths.at(0));
  return {{"m", m}, {"n", extents<2>(headers.at(1), paths.at(1))[1]}, {"k", k}};
}

}  // namespace

case_list problem::cases(std::int64_t /*tile*/, bool thorough, std::uint64_t seed) {
  // Ragged in every direction, and whole tiles of every stage.
  case_list list = {{{67, 136, 72}, pattern::random},
                    {{128, 256, 64}, pattern::signed_random},
                    {{40, 72, 200}, pattern::nonfinite}};
  if (!thorough) return list;
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k,
                       pattern kind = pattern::small_integers) {
    list.push_back({{m, n, k}, kind, true});
  };
  for (const std::int64_t m : {0, 1, 3})
    for (const std::int64_t n : {0, 1, 9})
      for (const std::int64_t k : {0, 1, 17}) add(m, n, k);
  // Every number of units of 8 up to a tile's, in each direction.
  for (std::int64_t r = 1; r <= 16; ++r) {
    const std::uint64_t bits = random_bits(seed ^ 0x517e, static_cast<std::uint64_t>(r));
    const auto other = [&](int shift) { return 1 + static_cast<std::int64_t>((bits >> shift) % 80); };
    add(8 * r - 3, other(0), other(8));
    add(other(16), 8 * r, other(24));
    add(other(32), other(40), 8 * r);
  }
  // Around the tiles of every stage, and more steps along k than any of them keeps at a time.
  add(127, 264, 64);
  add(129, 248, 56);
  add(64, 128, 72);
  add(65, 8, 904);
  add(300, 520, 8);
  for (const pattern kind : {pattern::signed_random, pattern::spikes, pattern::ramp, pattern::nonfinite,
                             pattern::infinite, pattern::lone_infinity, pattern::mixed_zeros})
    add(68, 136, 80, kind);
  for (const pattern kind : {pattern::zeros, pattern::all_nan, pattern::constant, pattern::ties})
    add(33, 24, 40, kind);
  // A NaN at the borders of the units and tiles of A, and of B: its row, its column, and nothing else.
  for (const std::int64_t index : {0, 15, 16, 63, 64, 80 * 63, 80 * 64 + 79})
    list.push_back({{68, 136, 80}, pattern::lone_nan, true, index});
  if constexpr (!emulated) {
    add(511, 776, 1'032);
    add(100'003, 40, 16);
    add(33, 100'008, 16);
    add(5, 40, 100'008);
    // Outputs beyond 32 bits.
    add(70'001, 61'360, 16);
  }
  return list;
}

namespace {

const array_track_registration<problem> registered{LAB_PATH,
                                                   {.why_invalid = why_invalid,
                                                    .alternatives = alternatives,
                                                    .parameters_of_files = parameters_of_files,
                                                    .exact_cases = exact_cases,
                                                    .is_exact = is_exact}};

}  // namespace

}  // namespace lab::matrix_product_bf16
