// What the stages of the matrix product of bfloat16 are tried on.
#include "stages/matrix_product/product_hooks.hpp"
#include "stages/matrix_product_bf16/problem.hpp"

namespace lab::matrix_product_bf16 {

namespace {

using case_list = cases_of<problem::parameters>;

// What is nearest to p for stages whose rows begin at multiples of 16 bytes, and for those of whole tiles.
std::vector<problem::parameters> alternatives(const problem::parameters& p, pattern /*input*/) {
  const auto up = [](std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; };
  return {{p.m, up(p.n, 8), up(p.k, 8)}, {up(p.m, 16), up(p.n, 16), up(p.k, 16)}};
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
  add(70'001, 8, 8);
  add(1, 70'008, 8);
  for (const pattern kind : {pattern::signed_random, pattern::spikes, pattern::ramp, pattern::nonfinite,
                             pattern::infinite, pattern::zeros_and_inf, pattern::mixed_zeros})
    add(68, 136, 80, kind);
  for (const pattern kind : {pattern::zeros, pattern::all_nan, pattern::constant, pattern::ties})
    add(33, 24, 40, kind);
  // A NaN at the borders of the units and tiles of A, and of B: its row, its column, and nothing else.
  for (const std::int64_t index : {0, 15, 16, 63, 64, 80 * 63, 80 * 64 + 79})
    list.push_back({{68, 136, 80}, pattern::lone_nan, true, index});
  // An Inf where a row of A ends, or a column of B, and beside: a tail of zeros that it meets makes it NaN.
  for (const std::int64_t index : {0, 72, 79, 80, 80 * 68 - 1, 136 * 79, 136 * 79 + 135})
    list.push_back({{68, 136, 80}, pattern::lone_infinity, true, index});
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

array_hooks<problem> hooks() {
  auto hooks = matrix_product::hooks_of_products<problem>();
  hooks.alternatives = alternatives;
  return hooks;
}

const array_track_registration<problem> registered{LAB_PATH, hooks()};

}  // namespace

}  // namespace lab::matrix_product_bf16
