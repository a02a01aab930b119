// Matrix products of warpgroups: each layout of tiles against a plain loop, and products that are wrong.
#include "common/warpgroup_matrix.hpp"

#include <cmath>

#include "common/tensor_copy.hpp"
#include "tests/emulator/support.hpp"
#include "tests/matrix/warpgroup_kernels.hpp"

namespace {

using namespace lab::warpgroup_test;
using lab::major;
using lab::swizzle;

template <class T, int n, swizzle pattern, major a_major, major b_major, bool a_in_registers = false,
          int sign = 1>
void require_product() {
  INFO("n " << n << ", swizzle " << static_cast<unsigned>(pattern) << ", A "
            << (a_major == major::k ? "k" : "m") << "-major, B " << (b_major == major::k ? "k" : "n")
            << "-major, A in registers " << a_in_registers);
  const problem<T, n> given(1, lab::matrix_test::inputs::integers, 5);
  const device_array<T> a(given.a), b(given.b);
  const device_array<float> d(m * n);
  run(product_kernel<T, n, pattern, a_major, b_major, a_in_registers, sign>, 1, 128, a.get(), b.get(),
      d.get());
  std::vector<float> expected;
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      float sum = 0;
      for (std::size_t k = 0; k < depth; ++k)
        sum += static_cast<float>(given.a[row * depth + k]) * static_cast<float>(given.b[column * depth + k]);
      expected.push_back(sign * sum);
    }
  }
  CHECK(d.values() == expected);
}

template <swizzle pattern>
void require_products() {
  require_product<__nv_bfloat16, 64, pattern, major::k, major::k>();
  require_product<__nv_bfloat16, 64, pattern, major::k, major::mn>();
  require_product<__half, 64, pattern, major::mn, major::k>();
  require_product<__half, 128, pattern, major::mn, major::mn, false, -1>();
  require_product<__half, 64, pattern, major::k, major::mn, true>();
}

TEST_CASE("wgmma multiplies tiles of each swizzle and order, and A from registers", "[warpgroup]") {
  for_each_schedule();
  require_products<swizzle::none>();
  require_products<swizzle::bytes_32>();
  require_products<swizzle::bytes_64>();
  require_products<swizzle::bytes_128>();
  require_product<__nv_bfloat16, 256, swizzle::bytes_128, major::k, major::k, true, -1>();
}

// ---- a producer's tiles of k, copied by tensor maps into a ring; and what may be wrong

enum class mistake {
  none,
  none_one_behind,     // nothing is wrong: the products of one tile go on while the next ones begin
  early_one_behind,    // the same, and the slot of those that go on is free
  read_before_wait,    // sums are read when the products have begun
  no_wait_for_copies,  // the tiles are multiplied at once
  early_arrival,       // a slot is free when its products have begun
  no_fence,            // before the first product
  no_fence_again,      // after the sums were changed
  changed_sums,        // while products are under way
  no_commit,
  one_warp_less,     // one warp of the warpgroup does not multiply
  other_tile,        // one warp gives another tile
  row_of_tile,       // the tile begins where no pattern begins
  no_shared_memory,  // B is device memory
};

constexpr int slots = 2, tile_k = 64, n = 64;
constexpr int slot_bytes = (m + n) * tile_k * 2;
constexpr std::size_t ring_bytes = slots * slot_bytes;

constexpr int product_line = __LINE__ + 39;
__global__ void multiply_pipeline(const __grid_constant__ lab::tensor_map a,
                                  const __grid_constant__ lab::tensor_map b, float* d, int tiles,
                                  mistake wrong) {
  unsigned char* const ring = lab::tensor_shared<unsigned char>();
  __shared__ lab::mbarrier full[slots], empty[slots];
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  if (thread == 0) {
    for (int slot = 0; slot < slots; ++slot) {
      full[slot].initialise(1);
      empty[slot].initialise(1);
    }
    lab::fence_mbarrier_init();
  }
  __syncthreads();
  if (thread >= 128) {
    if (thread != 128) return;
    for (int t = 0; t < tiles; ++t) {
      const int slot = t % slots;
      if (t >= slots) empty[slot].wait(static_cast<unsigned>(t / slots - 1));
      full[slot].arrive_expect_tx(slot_bytes);
      lab::tensor_copy_in(ring + slot * slot_bytes, a, t * tile_k, 0, full[slot]);
      lab::tensor_copy_in(ring + slot * slot_bytes + m * tile_k * 2, b, t * tile_k, 0, full[slot]);
    }
    return;
  }
  float sums[n / 2] = {};
  if (wrong != mistake::no_fence) lab::wgmma_fence(sums);
  for (int t = 0; t < tiles; ++t) {
    const int slot = t % slots;
    const unsigned char* const tile = ring + slot * slot_bytes;
    if (wrong != mistake::no_wait_for_copies) full[slot].wait(static_cast<unsigned>(t / slots));
    auto of_a = lab::make_matrix_descriptor(tile, swizzle::bytes_128, 16, 1024);
    auto of_b = lab::make_matrix_descriptor(tile + m * tile_k * 2, swizzle::bytes_128, 16, 1024);
    if (wrong == mistake::other_tile && warp == 2) of_b = of_a;
    if (wrong == mistake::row_of_tile) of_a = of_a.advanced(128);
    if (wrong == mistake::no_shared_memory) of_b = lab::make_matrix_descriptor(d, swizzle::none, 128, 256);
    for (int step = 0; step < tile_k / 16; ++step) {
      if (wrong == mistake::one_warp_less && warp == 3) break;
      lab::wgmma_m64k16<__nv_bfloat16>(sums, of_a.advanced(32 * step), of_b.advanced(32 * step), true);
      if (wrong == mistake::changed_sums && t == 1 && thread == 5) sums[3] += 1;
    }
    if (wrong != mistake::no_commit) lab::wgmma_commit();
    if (wrong == mistake::early_arrival && thread == 0) empty[slot].arrive();
    if (wrong == mistake::read_before_wait && t == tiles - 1) d[thread] = sums[0];
    if (wrong == mistake::none_one_behind || wrong == mistake::early_one_behind) {
      lab::wgmma_wait<1>();
      const int freed = wrong == mistake::early_one_behind ? t : t - 1;
      if (freed >= 0 && thread == 0) empty[freed % slots].arrive();
      continue;
    }
    lab::wgmma_wait<0>(sums);
    if (wrong == mistake::no_fence_again) sums[0] += 0.5f;
    // One thread's arrival is enough, as in CUTLASS: the product is one instruction of all four warps.
    if (wrong != mistake::early_arrival && thread == 0) empty[slot].arrive();
  }
  lab::wgmma_wait<0>(sums);
  if (wrong == mistake::read_before_wait) return;
  for (int k = 0; k < n / 2; ++k)
    d[(warp * 16 + thread % 32 / 4 + k / 2 % 2 * 8) * n + k / 4 * 8 + thread % 4 * 2 + k % 2] = sums[k];
}

// Of six launches, whose copies land and whose products end at different times.
struct outcome {
  bool is_right = true;
  std::vector<std::string> texts;
  [[nodiscard]] bool says(const std::string& words) const {
    for (const std::string& text : texts) UNSCOPED_INFO(text);
    return one_says(texts, words);
  }
};

outcome outcome_of(mistake wrong) {
  constexpr int tiles = 5;
  constexpr std::size_t k_all = tiles * tile_k;
  std::vector<__nv_bfloat16> a(m * k_all), b(n * k_all);
  lab::matrix_test::generator random(9);
  for (auto* numbers : {&a, &b}) {
    for (__nv_bfloat16& number : *numbers) number = static_cast<float>(random.between(-4, 4));
  }
  std::vector<float> expected;
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      float sum = 0;
      for (std::size_t k = 0; k < k_all; ++k)
        sum += static_cast<float>(a[row * k_all + k]) * static_cast<float>(b[column * k_all + k]);
      expected.push_back(sum);
    }
  }
  const device_array<__nv_bfloat16> on_a(a), on_b(b);
  const auto map = [](const __nv_bfloat16* of) {
    return lab::make_tensor_map(of, {k_all, m}, {1, k_all}, {tile_k, m}, swizzle::bytes_128);
  };
  outcome found;
  for (int launch = 0; launch < 6; ++launch) {
    const device_array<float> d(m * n);
    const cudaError_t error = try_launch(multiply_pipeline, 1, 160, ring_bytes, map(on_a.get()),
                                         map(on_b.get()), d.get(), tiles, wrong);
    for (std::string& text : lab::emulator::take_diagnostics()) found.texts.push_back(std::move(text));
    found.is_right = found.is_right && error == cudaSuccess && d.values() == expected;
    lab::emulator::reset();
  }
  return found;
}

TEST_CASE("a pipeline of tensor copies and wgmma is right whenever each of them ends", "[warpgroup]") {
  for_each_schedule();
  for (const mistake right : {mistake::none, mistake::none_one_behind}) {
    const outcome found = outcome_of(right);
    for (const std::string& text : found.texts) UNSCOPED_INFO(text);
    CHECK(found.is_right);
  }
}

TEST_CASE("wgmma: sums that are read early, and tiles that come too late or go too soon, are wrong",
          "[warpgroup]") {
  for_each_schedule();
  CHECK_FALSE(outcome_of(mistake::read_before_wait).is_right);
  CHECK_FALSE(outcome_of(mistake::no_wait_for_copies).is_right);
  CHECK_FALSE(outcome_of(mistake::early_arrival).is_right);
  CHECK_FALSE(outcome_of(mistake::early_one_behind).is_right);
  CHECK_FALSE(outcome_of(mistake::no_commit).is_right);
}

TEST_CASE("wgmma: what is wrong is said with its line", "[warpgroup]") {
  for_each_schedule();
  const std::string place = at(__FILE__, product_line);
  CHECK(outcome_of(mistake::no_fence).says("begins a product with no wgmma_fence() before it"));
  CHECK(outcome_of(mistake::no_fence_again)
            .says("adds to sums that it has changed since it waited for them, with no wgmma_fence() behind "
                  "that"));
  CHECK(outcome_of(mistake::changed_sums)
            .says("has changed sums that the product at " + place + " may still be writing"));
  CHECK(outcome_of(mistake::one_warp_less)
            .says("waits for ever for a product that not all four warps of its warpgroup have begun"));
  CHECK(outcome_of(mistake::other_tile)
            .says("begins a product that is another one than that of its warpgroup at " + place));
  CHECK(
      outcome_of(mistake::row_of_tile)
          .says("begins a product whose A is swizzled, and does not begin in the first row behind a multiple "
                "of 1024 bytes"));
  CHECK(outcome_of(mistake::no_shared_memory)
            .says("begins a product whose B is not, or not all, the block's shared memory"));
}

}  // namespace
