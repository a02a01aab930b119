// What the stages of the reduction are tried on.
#include "harness/device/array_track.hpp"
#include "stages/reduction/problem.hpp"

namespace lab::reduction {

std::vector<verification_case<problem::parameters>> problem::cases(std::int64_t tile, bool thorough,
                                                                   std::uint64_t seed) {
  std::vector<verification_case<parameters>> list;
  const auto add = [&](std::int64_t n, pattern kind, operation combine = operation::sum,
                       element type = element::float32) {
    if (n < 0) return;
    list.push_back(
        {{.n = n, .type = static_cast<std::int64_t>(type), .operation = static_cast<std::int64_t>(combine)},
         kind});
  };
  constexpr operation all[] = {operation::sum, operation::minimum, operation::maximum, operation::user};
  // A few quick ones that every run repeats: several blocks and a ragged end, no values, cancellation, NaN.
  add(3 * tile + 17, pattern::random);
  add(0, pattern::random);
  add(20'011, pattern::signed_random, operation::sum, element::float64);
  add(20'011, pattern::nonfinite, operation::maximum);
  add(20'011, pattern::signed_random, operation::user);
  if (!thorough) return list;

  for (const operation combine : all) {
    add(0, pattern::random, combine);
    add(0, pattern::random, combine, element::float64);
    add(2 * tile + 5, pattern::signed_random, combine, element::float64);
    add(20'011, pattern::nonfinite, combine);
    add(20'011, pattern::nonfinite, combine, element::float64);
    add(20'011, pattern::infinite, combine);
  }
  for (const std::int64_t n : {1, 2, 3, 4, 5, 31, 32, 33, 127, 1023, 1024, 1025}) {
    add(n, pattern::signed_random, all[n % 4]);
    add(n, pattern::random, operation::sum, n % 2 == 0 ? element::float32 : element::float64);
  }
  for (const std::int64_t n : {tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile + 1, 5 * tile + 3}) {
    add(n, pattern::random);
    add(n, pattern::ramp, operation::maximum);  // the last value is the result
  }
  for (const pattern kind : {pattern::signed_random, pattern::spikes, pattern::denormal, pattern::ramp}) {
    add(30'011, kind);
    add(30'011, kind, operation::sum, element::float64);
    add(30'011, kind, operation::minimum);
  }
  // Inputs of one kind: an identity that is none shows, and a NaN or a sign that gets lost.
  for (const operation combine : all) {
    for (const pattern kind : {pattern::negative, pattern::zeros, pattern::negative_zeros,
                               pattern::mixed_zeros, pattern::negative_infinity, pattern::positive_infinity,
                               pattern::all_nan, pattern::constant, pattern::ties, pattern::small_integers}) {
      add(1, kind, combine);
      list.back().brief = true;
      for (const element type : {element::float32, element::float64}) {
        add(2 * tile + 311, kind, combine, type);
        list.back().brief = combine != operation::sum;
      }
    }
    for (const element type : {element::float32, element::float64}) {
      add(2 * tile + 311, pattern::wide, combine, type);
      add(2 * tile + 311, pattern::gaps, combine, type);
      list.back().brief = true;
      add(60'011, pattern::gaps, combine, type);
      list.back().brief = true;
    }
  }
  // The result at one place after another.
  for (const operation combine : {operation::minimum, operation::maximum, operation::user}) {
    const pattern kind = combine == operation::minimum ? pattern::lone_minimum : pattern::lone_maximum;
    const std::int64_t n = 3 * tile + 17;
    for (const std::int64_t index : telling_indices(n, tile, seed)) {
      add(n, kind, combine);
      list.back().brief = true;
      list.back().index = index;
    }
  }
  for (const std::int64_t n : residue_sizes(tile, seed)) {
    const std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(n));
    add(n, pattern::small_integers);
    list.back().brief = true;
    if (bits % 4 > 0) continue;
    add(n, pattern::small_integers, operation::sum, element::float64);
    list.back().brief = true;
  }
  // A last value that is the result, of every residue of a warp.
  for (std::int64_t n = 289; n < 289 + 32; ++n) {
    for (const operation combine : {operation::minimum, operation::maximum, operation::user}) {
      add(n, combine == operation::minimum ? pattern::lone_minimum : pattern::lone_maximum, combine,
          random_bits(seed, static_cast<std::uint64_t>(n)) % 2 == 0 ? element::float32 : element::float64);
      list.back().brief = true;
      list.back().index = n - 1;
    }
  }
  // Sizes drawn at random, but the same ones every time.
  for (std::uint64_t k = 0; k < 8; ++k) {
    add(static_cast<std::int64_t>(1 + random_bits(7, k) % 100'000), pattern::random, all[k % 4],
        k % 3 == 0 ? element::float64 : element::float32);
  }
  if constexpr (!emulated) {
    add(10'000'019, pattern::random);
    list.back().brief = true;
    add(10'000'019, pattern::signed_random, operation::user);
    list.back().brief = true;
    // Indices beyond 31 and beyond 32 bits.
    add((std::int64_t{1} << 31) + 12'345, pattern::small_integers);
    list.back().brief = true;
    add((std::int64_t{1} << 32) + 12'345, pattern::ramp, operation::maximum);
    list.back().brief = true;
  }
  return list;
}

std::vector<exact_case> problem::exact_cases(const parameters& p, std::int64_t tile, std::uint64_t seed) {
  std::vector<exact_case> list;
  const auto combine = static_cast<operation>(p.operation);
  if (combine == operation::sum) {
    if (p.type == 64) list.push_back({pattern::integers});
    // Two equal values in 62, or a tile whose sum is nothing, are told by the second and third input.
    for (std::uint64_t k = 0; k < (emulated ? 2 : 3); ++k)
      list.push_back({pattern::small_integers, static_cast<std::int64_t>(random_bits(seed, k) >> 2)});
  } else {
    for (const std::int64_t index : telling_indices(p.n, tile, seed))
      list.push_back({combine == operation::minimum ? pattern::lone_minimum : pattern::lone_maximum, index});
  }
  return list;
}

parameter_values problem::parameters_of_files(const std::vector<npy_header>& headers,
                                              const std::vector<std::string>& paths) {
  return {{"n", extents<1>(headers.at(0), paths.at(0))[0]},
          {"type", headers[0].holds<double>() ? "float64" : "float32"}};
}

namespace {
const array_track_registration<problem> registered{LAB_PATH};
}

}  // namespace lab::reduction
