// The lanes of a warp exchange their results through registers: 5 shuffles combine 32 of them, without shared
// memory and without a barrier. That leaves 32 results of a block, one of each warp, and one warp combines
// them in the same way: one barrier instead of 11, and 128 bytes of shared memory instead of 4096.
#include "stages/reduction/problem.hpp"

namespace lab::reduction::warp_shuffle {
namespace {

constexpr int block_threads = 1024;
constexpr int warps = block_threads / 32;
constexpr int max_blocks = 32 * 80;
static_assert(warps == 32, "one warp combines one result of each warp, a lane each");

// Lane 0 gets the combination of all lanes' values.
template <class T, class Operation>
__device__ T combine_lanes(T value, Operation combine) {
  // exercise: lanes
  for (int distance = 16; distance > 0; distance /= 2) {
    value = combine(value, __shfl_down_sync(0xffffffffu, value, static_cast<unsigned>(distance)));
  }
  return value;
  // end
}

template <class T, class Operation>
__global__ void __launch_bounds__(block_threads)
    partial_kernel(const T* __restrict__ values, std::int64_t n, T* __restrict__ partials) {
  __shared__ T of_warp[warps];
  constexpr Operation combine{};
  T partial = Operation::identity();
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * block_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x; i < n;
       i += stride) {
    partial = combine(partial, values[i]);
  }
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  partial = combine_lanes(partial, combine);
  if (lane == 0) of_warp[warp] = partial;
  __syncthreads();
  if (warp > 0) return;
  partial = combine_lanes(of_warp[lane], combine);
  if (lane == 0) partials[blockIdx.x] = partial;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const int blocks = blocks_for(in.n, block_threads, max_blocks);
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = static_cast<T*>(scratch.data);
    lab::launch(partial_kernel<T, Operation>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0,
                stream, values, in.n, partials);
    lab::launch(partial_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, partials, blocks,
                result);
  });
}

// A value's longest way: the additions of its thread, of its warp and of the block (5 each), and both
// kernels' alike.
double relative_error(const problem::parameters& p) {
  const int blocks = blocks_for(p.n, block_threads, max_blocks);
  return rounding_error(
      p, share(p.n, std::int64_t{blocks} * block_threads) + 10 + share(blocks, block_threads) + 10);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "shuffles within warps, one barrier per block",
     .launch = launch,
     .workspace_bytes = [](const problem::parameters&) { return max_blocks * sizeof(double); },
     .tile = block_threads,
     .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::warp_shuffle
