#include "tests/classics/broken.hpp"

#include "common/cuda.hpp"

namespace lab::classics {
namespace {

constexpr int block = 128;

// Arrays of `count` numbers each, the first of them filled.
template <class... Parameters>
void go(void (*kernel)(Parameters...), dim3 grid, dim3 threads, Parameters... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = threads;
  static_cast<void>(cudaLaunchKernelEx(&config, kernel, arguments...));
}

template <void kernel(const int*, int*), unsigned blocks = 1, unsigned threads = block, int count = block>
void run() {
  int *from = nullptr, *to = nullptr;
  static_cast<void>(cudaMalloc(&from, count * sizeof(int)));
  static_cast<void>(cudaMalloc(&to, count * sizeof(int)));
  std::vector<int> values(count);
  for (int k = 0; k < count; ++k) values[static_cast<std::size_t>(k)] = k * 37 % 101;
  static_cast<void>(cudaMemcpy(from, values.data(), count * sizeof(int), cudaMemcpyHostToDevice));
  static_cast<void>(cudaMemset(to, 0, count * sizeof(int)));
  go<const int*, int*>(kernel, blocks, threads, from, to);
  static_cast<void>(cudaFree(from));
  static_cast<void>(cudaFree(to));
}

// The greatest is still read while the first thread writes the sum's parts into the same memory.
__global__ void softmax_one_barrier_short(const int* from, int* to) {
  __shared__ int part[block];
  const unsigned i = threadIdx.x;
  part[i] = from[i];
  __syncthreads();
  for (unsigned half = block / 2; half > 0; half /= 2) {
    if (i < half) part[i] = part[i] > part[i + half] ? part[i] : part[i + half];
    __syncthreads();
  }
  const int mine = from[i] - part[0];
  part[i] = mine;
  __syncthreads();
  to[i] = part[block - 1 - i];
}
__global__ void reverse_without_barrier(const int* from, int* to) {
  __shared__ int tile[block];
  tile[threadIdx.x] = from[threadIdx.x];
  to[threadIdx.x] = tile[block - 1 - threadIdx.x];
}
__global__ void reverse_in_place(const int* from, int* to) {
  to[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  const int other = to[block - 1 - threadIdx.x];
  to[threadIdx.x] = other;
}
__global__ void scan_one_buffer(const int* from, int* to) {
  __shared__ int part[block];
  const unsigned i = threadIdx.x;
  part[i] = from[i];
  __syncthreads();
  for (unsigned distance = 1; distance < block; distance *= 2) {
    if (i >= distance) part[i] += part[i - distance];
    __syncthreads();
  }
  to[i] = part[i];
}
__global__ void sum_barrier_in_branch(const int* from, int* to) {
  __shared__ int part[block];
  const unsigned i = threadIdx.x;
  part[i] = from[i];
  __syncthreads();
  if (i < block / 2) {
    part[i] += part[i + block / 2];
    __syncthreads();
  } else {
    __syncthreads();
    part[i] = 0;
  }
  to[i] = part[i];
}
__global__ void sum_warp_synchronous(const int* from, int* to) {
  __shared__ int part[32];
  volatile int* const mine = part;
  mine[threadIdx.x] = from[threadIdx.x];
  for (unsigned half = 16; half > 0; half /= 2) {
    if (threadIdx.x < half) mine[threadIdx.x] = mine[threadIdx.x] + mine[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *to = mine[0];
}
__global__ void sum_half_written(const int* from, int* to) {
  __shared__ int part[block];
  if (threadIdx.x < block / 2) part[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = part[threadIdx.x];
}
__global__ void sum_without_ticket(const int* from, int* to) {
  if (threadIdx.x != 0) return;
  to[blockIdx.x] = from[blockIdx.x];
  if (blockIdx.x != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += to[k];
  to[blockIdx.x] = sum;
}
__global__ void histogram_plain(const int* from, int* to) {
  __shared__ int bins[4];
  if (threadIdx.x < 4) bins[threadIdx.x] = 0;
  __syncthreads();
  bins[from[threadIdx.x] % 4] += 1;
  __syncthreads();
  if (threadIdx.x < 4) to[threadIdx.x] = bins[threadIdx.x];
}
__global__ void histogram_global_plain(const int* from, int* to) {
  to[from[threadIdx.x] % 4] += 1;
}
__global__ void histogram_no_reset_barrier(const int* from, int* to) {
  __shared__ int bins[4];
  if (threadIdx.x < 4) bins[threadIdx.x] = 0;
  atomicAdd(&bins[from[threadIdx.x] % 4], 1);
  __syncthreads();
  if (threadIdx.x < 4) to[threadIdx.x] = bins[threadIdx.x];
}
__global__ void histogram_too_few_bins(const int* from, int* to) {
  atomicAdd(&to[from[threadIdx.x] + 100], 1);
}
__global__ void stencil_past_the_end(const int* from, int* to) {
  const int i = static_cast<int>(threadIdx.x);
  to[i] = from[i] + from[i + 1];
}
__global__ void stencil_before_the_beginning(const int* from, int* to) {
  const int i = static_cast<int>(threadIdx.x);
  to[i] = from[i - 1] + from[i];
}
__global__ void stencil_in_place(const int* from, int* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i] + (i + 1 < gridDim.x * blockDim.x ? to[i + 1] : 0);
}
__global__ void tile_one_round_too_early(const int* from, int* to) {
  __shared__ int tile[block];
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    tile[threadIdx.x] = from[threadIdx.x] + round;
    __syncthreads();
    sum += tile[block - 1 - threadIdx.x];
  }
  to[threadIdx.x] = sum;
}
__global__ void wide_load_off_by_one(const int* from, int* to) {
  const int4 four = *reinterpret_cast<const int4*>(from + 1 + threadIdx.x * 4);
  to[threadIdx.x] = four.x + four.w;
}
__global__ void shuffle_from_who_left(const int* from, int* to) {
  if (threadIdx.x >= 20) return;
  to[threadIdx.x] = __shfl_down_sync(~0u, from[threadIdx.x], 1);
}
__global__ void last_block_unfenced(const int* from, int* to) {
  if (threadIdx.x != 0) return;
  to[1 + blockIdx.x] = from[blockIdx.x];
  if (atomicAdd(&to[0], 1) != static_cast<int>(gridDim.x) - 1) return;
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += to[1 + k];
  to[0] = sum;
}
__global__ void wait_for_next_block(const int*, int* to) {
  if (blockIdx.x == 0) {
    while (static_cast<volatile int*>(to)[0] == 0) {
    }
  } else {
    to[0] = 1;
  }
}
__global__ void compaction_counter_plain(const int* from, int* to) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (from[threadIdx.x] % 2 == 1) to[count++] = from[threadIdx.x];
}
__global__ void null_workspace(const int* from, int* to) {
  int* const workspace = from[0] >= 0 ? nullptr : to;
  workspace[threadIdx.x] = from[threadIdx.x];
}

}  // namespace

const std::vector<broken_kernel>& broken_kernels() {
  static const std::string thread = ": block (0,0,0): thread (", shared = " shared memory that thread (",
                           device = " device memory that thread (",
                           barrier = ", with no __syncthreads() between",
                           warp = ", with no __syncwarp() or __syncthreads() between",
                           blocks = ", and nothing orders the two blocks";
  static const std::vector<broken_kernel> all{
      {"softmax_one_barrier_short",
       run<softmax_one_barrier_short>,
       {thread, "reads", shared, " writes at ", "between"}},
      {"reverse_without_barrier", run<reverse_without_barrier>, {thread, shared, barrier}},
      {"reverse_in_place", run<reverse_in_place>, {thread, device, barrier}},
      {"scan_one_buffer", run<scan_one_buffer>, {thread, shared, "between"}},
      {"sum_barrier_in_branch",
       run<sum_barrier_in_branch>,
       {": block (0,0,0): thread (0,0,0) waits at this barrier, but "
        "thread (64,0,0) waits at the one at "}},
      {"sum_warp_synchronous", run<sum_warp_synchronous, 1, 32>, {thread, shared, warp}},
      {"sum_half_written",
       run<sum_half_written>,
       {thread, "reads shared memory that its block has not written"}},
      {"sum_without_ticket",
       run<sum_without_ticket, 4, 32>,
       {": block (3,0,0): thread (0,0,0) reads", device, blocks}},
      {"histogram_plain", run<histogram_plain>, {thread, shared, "between"}},
      {"histogram_global_plain", run<histogram_global_plain>, {thread, device, "between"}},
      {"histogram_no_reset_barrier",
       run<histogram_no_reset_barrier>,
       {thread, "atomically changes", shared, " writes at "}},
      {"histogram_too_few_bins",
       run<histogram_too_few_bins>,
       {thread, "atomically changes 4 bytes at offset ", " of an allocation of 512 bytes"}},
      {"stencil_past_the_end",
       run<stencil_past_the_end>,
       {": block (0,0,0): thread (127,0,0) reads 4 bytes at offset 512 of an allocation of 512 bytes"}},
      {"stencil_before_the_beginning",
       run<stencil_before_the_beginning>,
       {": block (0,0,0): thread (0,0,0) reads 4 bytes at offset -4 of an allocation of 512 bytes"}},
      {"stencil_in_place", run<stencil_in_place, 4, 32>, {device, "between"}},
      {"tile_one_round_too_early", run<tile_one_round_too_early>, {thread, shared, "between"}},
      {"wide_load_off_by_one",
       run<wide_load_off_by_one, 1, 16>,
       {": block (0,0,0): thread (0,0,0) reads 16 bytes at offset 4 of", "misaligned"}},
      {"shuffle_from_who_left",
       run<shuffle_from_who_left, 1, 32>,
       {": block (0,0,0): thread (19,0,0) reads lane 20 in __shfl_down_sync, which has left the kernel"}},
      {"last_block_unfenced",
       run<last_block_unfenced, 4, 32>,
       {": block (3,0,0): thread (0,0,0) reads", device, blocks}},
      {"wait_for_next_block",
       run<wait_for_next_block, 2, 1>,
       {": block (0,0,0): thread (0,0,0) waits in a loop for ever", "block (1,0,0) and those behind it"}},
      {"compaction_counter_plain", run<compaction_counter_plain>, {thread, shared, "between"}},
      {"null_workspace",
       run<null_workspace>,
       {": block (0,0,0): thread (0,0,0) writes 4 bytes at address 0, a null pointer"}}};
  return all;
}

}  // namespace lab::classics
