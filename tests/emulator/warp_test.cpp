#include <numeric>

#include "tests/emulator/support.hpp"

namespace {

constexpr unsigned full = 0xffffffffu;

__global__ void shuffle_each_way(int* out) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  int* const mine = out + threadIdx.x * 8;
  mine[0] = __shfl_sync(full, lane, 5);
  mine[1] = __shfl_sync(full, lane, 9, 8);
  mine[2] = __shfl_up_sync(full, lane, 3);
  mine[3] = __shfl_up_sync(full, lane, 1, 4);
  mine[4] = __shfl_down_sync(full, lane, 16);
  mine[5] = __shfl_down_sync(full, lane, 2, 4);
  mine[6] = __shfl_xor_sync(full, lane, 1);
  mine[7] = __shfl_xor_sync(full, lane, 4, 4);
}

template <class T>
__global__ void sum_warp(const T* in, T* out) {
  T value = in[threadIdx.x];
  for (unsigned distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(full, value, distance);
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = value;
}

__global__ void vote(unsigned* out) {
  const unsigned odd = __ballot_sync(full, threadIdx.x % 2);
  const int any = __any_sync(full, threadIdx.x == 31), none = __any_sync(full, 0);
  const int all = __all_sync(full, 1), not_all = __all_sync(full, threadIdx.x != 31);
  const unsigned same_third = __match_any_sync(full, static_cast<unsigned long long>(threadIdx.x % 3));
  int equal = -1, unequal = -1;
  const unsigned matched = __match_all_sync(full, 7, &equal);
  const unsigned unmatched = __match_all_sync(full, threadIdx.x, &unequal);
  if (threadIdx.x != 4) return;
  const unsigned results[] = {odd,
                              static_cast<unsigned>(any),
                              static_cast<unsigned>(none),
                              static_cast<unsigned>(all),
                              static_cast<unsigned>(not_all),
                              same_third,
                              matched,
                              static_cast<unsigned>(equal),
                              unmatched,
                              static_cast<unsigned>(unequal)};
  for (unsigned i = 0; i < 10; ++i) out[i] = results[i];
}

__global__ void reduce_values(int* out) {
  const int value = static_cast<int>(threadIdx.x) - 10;
  const unsigned bits = threadIdx.x + 1;
  const int results[] = {__reduce_add_sync(full, value),
                         __reduce_min_sync(full, value),
                         __reduce_max_sync(full, value),
                         static_cast<int>(__reduce_add_sync(full, bits)),
                         static_cast<int>(__reduce_min_sync(full, bits)),
                         static_cast<int>(__reduce_max_sync(full, bits)),
                         static_cast<int>(__reduce_and_sync(full, bits | 64u)),
                         static_cast<int>(__reduce_or_sync(full, bits)),
                         static_cast<int>(__reduce_xor_sync(full, bits))};
  if (threadIdx.x == 31) {
    for (int i = 0; i < 9; ++i) out[i] = results[i];
  }
}

__global__ void exchange_in_shared(int* out) {
  __shared__ int shared[32];
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncwarp();
  out[threadIdx.x] = shared[31 - threadIdx.x];
}

// Each half of the warp talks to itself; neither waits for the other.
__global__ void halves_apart(int* out) {
  int value = static_cast<int>(threadIdx.x);
  if (threadIdx.x < 16) {
    for (unsigned distance = 8; distance > 0; distance /= 2) {
      value += __shfl_down_sync(0x0000ffffu, value, distance, 16);
    }
  } else {
    value = __shfl_sync(0xffff0000u, value, 20);
    value += __shfl_sync(0xffff0000u, value, 21);
  }
  out[threadIdx.x] = value;
}

__global__ void find_companions(unsigned* out) {
  if (threadIdx.x % 4 == 0) {
    out[threadIdx.x] = __activemask();
  } else {
    out[threadIdx.x] = __activemask();
  }
}

// CUDA lets lanes that have left be named in a mask: the others do not wait for them.
__global__ void vote_after_some_left(unsigned* out) {
  if (threadIdx.x >= 20) return;
  out[threadIdx.x] = __ballot_sync(full, 1) + static_cast<unsigned>(__all_sync(full, threadIdx.x < 20));
  __syncwarp();
}

__global__ void read_outside_mask(double* out) {
  if (threadIdx.x < 2) out[threadIdx.x] = __shfl_down_sync(0x3u, 1.0, 1);
}

constexpr int left_lane_line = __LINE__ + 4;
__global__ void read_lane_that_left(int* out) {
  if (threadIdx.x >= 20) return;
  int value = 1;
  for (unsigned distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(full, value, distance);
  out[threadIdx.x] = value;
}

constexpr int missing_lane_line = __LINE__ + 2;
__global__ void wait_for_lane_at_barrier() {
  if (threadIdx.x < 16) __syncwarp();
  __syncthreads();
}

constexpr int crossed_line = __LINE__ + 3;
__global__ void wait_crosswise() {
  if (threadIdx.x < 16) {
    __syncwarp();
  } else {
    __ballot_sync(full, 1);
  }
}

constexpr int two_masks_line = __LINE__ + 2;
__global__ void wait_with_two_masks() {
  __syncwarp(threadIdx.x < 16 ? 0xffffu | 1u << (16 + threadIdx.x) : full);
}

constexpr int foreign_mask_line = __LINE__ + 2;
__global__ void call_with_foreign_mask() {
  if (threadIdx.x == 9) __syncwarp(0xffu);
}

constexpr int width_line = __LINE__ + 2;
__global__ void shuffle_with_width(int width, int* out) {
  out[0] = __shfl_sync(1u, 1, 0, width);
}

}  // namespace

TEST_CASE("shuffles") {
  for_each_schedule();
  const device_array<int> out(64 * 8);
  run(shuffle_each_way, 1, 64, out.get());
  const std::vector<int> values = out.values();
  for (int thread = 0; thread < 64; ++thread) {
    const int lane = thread % 32;
    const std::vector<int> mine(values.begin() + thread * 8, values.begin() + thread * 8 + 8);
    const std::vector<int> expected{5,
                                    lane / 8 * 8 + 1,
                                    lane >= 3 ? lane - 3 : lane,
                                    lane % 4 ? lane - 1 : lane,
                                    lane < 16 ? lane + 16 : lane,
                                    lane % 4 < 2 ? lane + 2 : lane,
                                    lane ^ 1,
                                    lane % 8 < 4 ? lane : lane - 4};  // never from a segment behind
    CHECK(mine == expected);
  }
}

TEMPLATE_TEST_CASE("a warp's sum by shuffles", "", int, unsigned long long, float, double) {
  for_each_schedule();
  std::vector<TestType> values(96);
  std::iota(values.begin(), values.end(), TestType(1));
  const device_array<TestType> in(values), out(3);
  run(sum_warp<TestType>, 1, 96, in.get(), out.get());
  CHECK(out.values() == std::vector<TestType>{528, 1552, 2576});
}

TEST_CASE("votes and matches") {
  for_each_schedule();
  const device_array<unsigned> out(10);
  run(vote, 1, 32, out.get());
  CHECK(out.values() == std::vector<unsigned>{0xaaaaaaaau, 1, 0, 1, 0, 0x92492492u, full, 1, 0, 0});
}

TEST_CASE("reductions of a warp") {
  for_each_schedule();
  const device_array<int> out(9);
  run(reduce_values, 1, 32, out.get());
  CHECK(out.values() == std::vector<int>{176, -10, 21, 528, 1, 32, 64, 63, 32});
}

TEST_CASE("what a lane wrote before __syncwarp(), the others read behind it") {
  for_each_schedule();
  const device_array<int> out(32);
  run(exchange_in_shared, 1, 32, out.get());
  std::vector<int> expected(32);
  std::iota(expected.rbegin(), expected.rend(), 0);
  CHECK(out.values() == expected);
}

TEST_CASE("parts of a warp with masks of their own do not wait for one another") {
  for_each_schedule();
  const device_array<int> out(32);
  run(halves_apart, 1, 32, out.get());
  const std::vector<int> values = out.values();
  CHECK(values[0] == 120);
  for (int lane = 16; lane < 32; ++lane) CHECK(values[lane] == 40);
}

TEST_CASE("__activemask() names the lanes at the same line") {
  for_each_schedule();
  const device_array<unsigned> out(34);
  run(find_companions, 1, 34, out.get());
  const std::vector<unsigned> values = out.values();
  for (unsigned lane = 0; lane < 32; ++lane)
    CHECK(values[lane] == (lane % 4 == 0 ? 0x11111111u : 0xeeeeeeeeu));
  CHECK(values[32] == 1);
  CHECK(values[33] == 2);
}

TEST_CASE("lanes that have left the kernel are not waited for") {
  for_each_schedule();
  const device_array<unsigned> out(20);
  run(vote_after_some_left, 1, 32, out.get());
  CHECK(out.values() == std::vector<unsigned>(20, 0xfffffu + 1));
  run(vote_after_some_left, 1, 20, out.get());  // nor are lanes that the block does not have
  CHECK(out.values() == std::vector<unsigned>(20, 0xfffffu + 1));
}

TEST_CASE("a lane outside the mask gives no plausible value") {
  for_each_schedule();
  const device_array<double> out(2);
  run(read_outside_mask, 1, 32, out.get());
  CHECK(out.values() ==
        std::vector<double>{1.0, __longlong_as_double(static_cast<long long>(0xcdcdcdcdcdcdcdcdu))});
}

TEST_CASE("a shuffle from a lane that is not there fails the launch") {
  for_each_schedule();
  const device_array<int> out(20);
  const std::string reads = ": block (0,0,0): thread (4,0,0) reads lane 20 in __shfl_down_sync, which ";
  require_failure(at(__FILE__, left_lane_line) + reads + "has left the kernel", read_lane_that_left, 1, 32,
                  out.get());
  require_failure(at(__FILE__, left_lane_line) + reads + "this block does not have", read_lane_that_left, 1,
                  20, out.get());
}

TEST_CASE("a warp collective that can never complete fails the launch") {
  for_each_schedule();
  require_failure(
      at(__FILE__, missing_lane_line) +
          ": block (0,0,0): thread (0,0,0) waits in __syncwarp for the lanes of mask 0xffffffff, but "
          "thread (16,0,0) waits at the block barrier at " +
          at(__FILE__, missing_lane_line + 1),
      wait_for_lane_at_barrier, 1, 32);
  require_failure(
      at(__FILE__, crossed_line) +
          ": block (0,0,0): thread (0,0,0) waits in __syncwarp for the lanes of mask 0xffffffff, but "
          "thread (16,0,0) waits in __ballot_sync with mask 0xffffffff at " +
          at(__FILE__, crossed_line + 2),
      wait_crosswise, 1, 32);
  require_failure(
      at(__FILE__, two_masks_line) +
          ": block (0,0,0): thread (0,0,0) waits in __syncwarp for the lanes of mask 0x0001ffff, but "
          "thread (1,0,0) waits in __syncwarp with mask 0x0002ffff at " +
          at(__FILE__, two_masks_line),
      wait_with_two_masks, 1, 32);
}

TEST_CASE("a mask without the caller's own lane fails the launch") {
  for_each_schedule();
  require_failure(
      at(__FILE__, foreign_mask_line) +
          ": block (0,0,0): thread (9,0,0) calls __syncwarp with mask 0x000000ff, which does not contain "
          "its own lane 9",
      call_with_foreign_mask, 1, 32);
}

TEST_CASE("a shuffle's width that is no power of two fails the launch") {
  for_each_schedule();
  const device_array<int> out(1);
  const int width = GENERATE(0, 12, 64);
  require_failure(at(__FILE__, width_line) + ": block (0,0,0): thread (0,0,0) calls __shfl_sync with width " +
                      std::to_string(width) + ", which is no power of two up to 32",
                  shuffle_with_width, 1, 1, width, out.get());
  run(shuffle_with_width, 1, 1, 16, out.get());
}
