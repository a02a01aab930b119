// What the stages of the matrix product are tried on.
#include "harness/device/array_track.hpp"
#include "stages/matrix_product/product_hooks.hpp"

namespace lab::matrix_product {

namespace {

using case_list = cases_of<problem::parameters>;

void add_sizes(case_list& list, std::uint64_t seed) {
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    list.push_back({{m, n, k}, pattern::small_integers, true});
  };
  for (const std::int64_t m : {0, 1, 3}) {
    for (const std::int64_t n : {0, 1, 5}) {
      for (const std::int64_t k : {0, 1, 2}) add(m, n, k);
    }
  }
  // Every residue of 32 in each direction.
  for (std::int64_t r = 0; r < 32; ++r) {
    const std::uint64_t bits = random_bits(seed ^ 0x517e, static_cast<std::uint64_t>(r));
    const auto other = [&](int shift) { return 1 + static_cast<std::int64_t>((bits >> shift) % 40); };
    add(1 + r, other(0), other(8));
    add(other(16), 33 + r, other(24));
    add(other(32), other(40), 17 + r);
  }
  // Around the tiles of every stage.
  add(32, 32, 32);
  add(63, 64, 8);
  add(64, 65, 7);
  add(127, 129, 9);
  add(129, 127, 16);
  add(255, 61, 17);
  add(62, 257, 33);
  // Long in one direction.
  add(2'003, 1, 3);
  add(2, 2'003, 3);
  add(3, 2, 2'003);
  add(70'001, 1, 2);
  add(1, 70'001, 2);
  if constexpr (!emulated) {
    add(511, 769, 1'027);
    add(100'003, 33, 5);
    add(33, 100'003, 5);
    add(5, 33, 100'003);
    // Outputs, and elements of either input, beyond 32 bits.
    add(70'001, 61'357, 1);
    add(70'001, 1, 61'357);
    add(1, 70'001, 61'357);
  }
}

void add_patterns(case_list& list) {
  for (const pattern kind : {pattern::signed_random, pattern::spikes, pattern::denormal, pattern::ramp,
                             pattern::nonfinite, pattern::infinite, pattern::wide, pattern::zeros_and_inf}) {
    list.push_back({{45, 70, 61}, kind, true});
    list.push_back({{68, 44, 32}, kind, true});
  }
  for (const pattern kind : patterns_of_one_kind()) list.push_back({{35, 41, 19}, kind, true});
  // A NaN at the borders of A's tiles, and of B's: its row and its column, and nothing else.
  for (const std::int64_t index : {0, 7, 8, 31, 32, 60, 61, 61 * 32, 61 * 45 - 1})
    list.push_back({{45, 70, 61}, pattern::lone_nan, true, index});
  // An Inf where a row of A ends, or a column of B, and beside: a tail of zeros that it meets makes it NaN.
  for (const std::int64_t index : {0, 56, 60, 61, 61 * 45 - 1, 70 * 60, 70 * 60 + 69})
    list.push_back({{45, 70, 61}, pattern::lone_infinity, true, index});
}

}  // namespace

case_list problem::cases(std::int64_t /*tile*/, bool thorough, std::uint64_t seed) {
  // Ragged in every direction, and whole tiles of every stage.
  case_list list = {{{67, 131, 45}, pattern::random},
                    {{128, 128, 32}, pattern::signed_random},
                    {{33, 140, 70}, pattern::nonfinite}};
  if (!thorough) return list;
  add_sizes(list, seed);
  add_patterns(list);
  return list;
}

namespace {

const array_track_registration<problem> registered{LAB_PATH, hooks_of_products<problem>()};

}  // namespace

}  // namespace lab::matrix_product
