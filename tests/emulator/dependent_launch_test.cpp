// Kernels that may begin before the one before them has ended.
#include <cstddef>
#include <string>
#include <vector>

#include "common/dependent_launch.hpp"
#include "common/emulator/core/deferred_streams.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/support.hpp"

namespace {

constexpr unsigned blocks = 40, threads = 64, n = blocks * threads;  // more than begin at once

struct arrays {
  int* input;   // 1 to n
  int* middle;  // what the first kernel makes: twice the input
  int* output;  // what the second one makes of that: one more
};

__device__ unsigned here() {
  return blockIdx.x * threads + threadIdx.x;
}

constexpr int input_line = __LINE__ + 3;
__global__ void doubles(arrays all) {
  lab::trigger_dependents();
  all.middle[here()] = 2 * all.input[here()];
}
__global__ void doubles_and_never_triggers(arrays all) {
  all.middle[here()] = 2 * all.input[here()];
}

__global__ void adds(arrays all) {
  lab::grid_dependency_sync();
  all.output[here()] = all.middle[here()] + 1;
}
__global__ void adds_where_one_thread_waits(arrays all) {
  __shared__ int block;
  if (threadIdx.x == 0) {
    block = static_cast<int>(blockIdx.x);
    lab::grid_dependency_sync();
  }
  __syncthreads();
  const unsigned i = static_cast<unsigned>(block) * threads + threadIdx.x;
  all.output[i] = all.middle[i] + 1;
}
// One thread polls for what the first kernel writes last.
__global__ void adds_what_it_polls_for(arrays all) {
  volatile int* const middle = all.middle;
  while (here() == 0 && middle[n - 1] == 0) {
  }
  lab::grid_dependency_sync();
  all.output[here()] = all.middle[here()] + 1;
}
constexpr int early_line = __LINE__ + 2;
__global__ void adds_before_it_waits(arrays all) {
  const int found = all.middle[here()];
  lab::grid_dependency_sync();
  all.output[here()] = found + 1;
}
constexpr int warp_line = __LINE__ + 3;
__global__ void adds_where_one_warp_waits(arrays all) {
  if (threadIdx.x < 32) lab::grid_dependency_sync();
  all.output[here()] = all.middle[here()] + 1;
}
__global__ void adds_behind_a_barrier_before_it_waits(arrays all) {
  __shared__ int found[threads];
  found[threadIdx.x] = static_cast<int>(here());
  __syncthreads();
  found[threadIdx.x] = all.middle[found[threads - 1 - threadIdx.x]];
  __syncthreads();
  lab::grid_dependency_sync();
  all.output[static_cast<unsigned>(blockIdx.x) * threads + threads - 1 - threadIdx.x] =
      found[threadIdx.x] + 1;
}
constexpr int clear_line = __LINE__ + 2;
__global__ void adds_and_clears_before_it_waits(arrays all) {
  all.input[here()] = 0;
  lab::grid_dependency_sync();
  all.output[here()] = all.middle[here()] + 1;
}
constexpr int block_line = __LINE__ + 6;
__global__ void adds_where_one_block_waits(arrays all) {
  __shared__ int flag;
  if (blockIdx.x == 0) lab::grid_dependency_sync();
  if (threadIdx.x == 0) atomicExch(&flag, 1);
  __syncthreads();
  all.output[here()] = all.middle[here()] + 1;
}

using kernel = void (*)(arrays);

// Whether all results are right, of the second launch of both: in the first one it is not known that the next
// kernel may begin.
bool is_right(kernel first, kernel second) {
  const device_array<int> input(n), middle(n), output(n);
  const arrays all{input.get(), middle.get(), output.get()};
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  std::vector<int> values(n), results(n);
  for (unsigned i = 0; i < n; ++i) values[i] = static_cast<int>(i) + 1;
  for (int launch = 0; launch < 2; ++launch) {
    lab::emulator::deferred_streams deferred(0);
    cudaMemcpyAsync(all.input, values.data(), n * sizeof(int), cudaMemcpyHostToDevice, stream);
    cudaMemsetAsync(all.middle, 0, n * sizeof(int), stream);
    lab::launch(first, dim3(blocks), dim3(threads), 0, stream, all);
    lab::launch_early(second, dim3(blocks), dim3(threads), 0, stream, all);
    cudaMemcpyAsync(results.data(), all.output, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
    const cudaError_t error = cudaStreamSynchronize(stream);
    for (const std::string& text : lab::emulator::diagnostics()) UNSCOPED_INFO(text);
    REQUIRE(error == cudaSuccess);
  }
  cudaStreamDestroy(stream);
  for (unsigned i = 0; i < n; ++i) {
    if (results[i] != 2 * values[i] + 1) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a kernel that begins early and waits is right") {
  for_each_schedule();
  CHECK(is_right(doubles, adds));
  CHECK(is_right(doubles, adds_where_one_thread_waits));
}

TEST_CASE("a kernel may poll for what the one before it writes") {
  CHECK(is_right(doubles, adds_what_it_polls_for));
}

TEST_CASE("a kernel that begins early and does not wait for what it reads, or for who reads, is wrong") {
  for_each_schedule();
  CHECK_FALSE(is_right(doubles, adds_before_it_waits));
  CHECK_FALSE(is_right(doubles, adds_where_one_warp_waits));
  CHECK_FALSE(is_right(doubles, adds_behind_a_barrier_before_it_waits));
  CHECK_FALSE(is_right(doubles, adds_and_clears_before_it_waits));
  CHECK_FALSE(is_right(doubles, adds_where_one_block_waits));
}

TEST_CASE("behind a kernel that lets nobody begin the next one begins when it has ended") {
  for_each_schedule();
  CHECK(is_right(doubles_and_never_triggers, adds_and_clears_before_it_waits));
}
