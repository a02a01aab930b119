#include <algorithm>

#include "tests/emulator/support.hpp"

namespace {

constexpr unsigned blocks = 6, threads = 64, total = blocks * threads;

template <class T>
__global__ void add_one(T* sum, T* old) {
  old[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(sum, T(1));
}

template <class T>
__global__ void combine(T* out) {
  const T value = static_cast<T>(blockIdx.x * blockDim.x + threadIdx.x) + 5;
  atomicMin(&out[0], value);
  atomicMax(&out[1], value);
}

template <class T>
__global__ void combine_bits(T* out) {
  const T bit = T(1) << (threadIdx.x % 20);
  atomicOr(&out[0], bit);
  atomicAnd(&out[1], static_cast<T>(~bit));
  atomicXor(&out[2], bit);
}

__global__ void subtract(int* signed_sum, unsigned* unsigned_sum) {
  atomicSub(signed_sum, 2);
  atomicSub(unsigned_sum, 3u);
}

template <class T>
__global__ void exchange(T* slot, T* got) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  got[i] = atomicExch(slot, T(i + 1));
}

// Adding by hand, as one writes an atomic that CUDA does not have.
template <class T>
__global__ void add_by_compare_and_swap(T* sum) {
  T old = *sum, assumed;
  do {
    assumed = old;
    old = atomicCAS(sum, assumed, assumed + 2);
  } while (old != assumed);
}

__global__ void count_around(unsigned* up, unsigned* down) {
  atomicInc(up, 9);
  atomicDec(down, 9);
}

__global__ void count_in_shared(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = count;
}

}  // namespace

TEMPLATE_TEST_CASE("atomicAdd adds each value once and returns the one before", "", int, unsigned,
                   unsigned long long, float, double) {
  for_each_schedule();
  const device_array<TestType> sum(1), old(total);
  run(add_one<TestType>, blocks, threads, sum.get(), old.get());
  CHECK(sum.values()[0] == TestType(total));
  std::vector<TestType> seen = old.values();
  std::sort(seen.begin(), seen.end());
  for (unsigned i = 0; i < total; ++i) CHECK(seen[i] == TestType(i));
}

TEMPLATE_TEST_CASE("atomicMin and atomicMax", "", int, unsigned, long long, unsigned long long) {
  for_each_schedule();
  const device_array<TestType> out(std::vector<TestType>{1000, 0});
  run(combine<TestType>, blocks, threads, out.get());
  CHECK(out.values() == std::vector<TestType>{5, total + 4});
}

TEMPLATE_TEST_CASE("atomicOr, atomicAnd and atomicXor", "", int, unsigned, unsigned long long) {
  for_each_schedule();
  const TestType ones = (TestType(1) << 20) - 1;
  const device_array<TestType> out(std::vector<TestType>{0, ones, 0});
  run(combine_bits<TestType>, 1, 25, out.get());
  CHECK(out.values() == std::vector<TestType>{ones, 0, ones ^ 31});  // bits 0 to 4 are set twice
}

TEST_CASE("atomicSub") {
  for_each_schedule();
  const device_array<int> signed_sum(1);
  const device_array<unsigned> unsigned_sum(1, 5 * total);
  run(subtract, blocks, threads, signed_sum.get(), unsigned_sum.get());
  CHECK(signed_sum.values()[0] == -2 * static_cast<int>(total));
  CHECK(unsigned_sum.values()[0] == 2 * total);
}

TEMPLATE_TEST_CASE("atomicExch hands each value on once", "", int, unsigned, unsigned long long, float) {
  for_each_schedule();
  const device_array<TestType> slot(1), got(total);
  run(exchange<TestType>, blocks, threads, slot.get(), got.get());
  std::vector<TestType> seen = got.values();
  seen.push_back(slot.values()[0]);
  std::sort(seen.begin(), seen.end());
  for (unsigned i = 0; i <= total; ++i) CHECK(seen[i] == TestType(i));
}

TEMPLATE_TEST_CASE("atomicCAS", "", int, unsigned, unsigned long long) {
  for_each_schedule();
  const device_array<TestType> sum(1);
  run(add_by_compare_and_swap<TestType>, blocks, threads, sum.get());
  CHECK(sum.values()[0] == TestType(2 * total));
}

TEST_CASE("atomicInc and atomicDec wrap around") {
  for_each_schedule();
  const device_array<unsigned> up(1), down(1);
  run(count_around, 1, 13, up.get(), down.get());
  CHECK(up.values()[0] == 3);
  CHECK(down.values()[0] == 7);
}

TEST_CASE("atomics work on shared memory") {
  for_each_schedule();
  const device_array<int> out(blocks);
  run(count_in_shared, blocks, threads, out.get());
  CHECK(out.values() == std::vector<int>(blocks, threads));
}
