// Two kernels again, as in 04_vectorized, but the second one is launched early (programmatic dependent
// launch): its block is already on a multiprocessor when the first kernel ends, and only waits for the
// blocks' results. So there is no counter, no memset before it, and nearly no gap between the kernels. What
// one block can read at once is the work of the second kernel alone.
#include "common/block_reduce.hpp"
#include "common/dependent_launch.hpp"
#include "common/multiprocessors.hpp"
#include "stages/reduction/bulk_share.hpp"
#include "stages/reduction/problem.hpp"
#include "stages/reduction/vectors.hpp"

namespace lab::reduction::dependent_launch {
namespace {

constexpr int block_threads = 512;
constexpr int loads_in_flight = 4;
static_assert(loads_in_flight == 4, "the kernels combine four loads in pairs");
constexpr std::int64_t load_bytes = block_threads * 16;                 // 8 KiB: one load of each thread
constexpr std::int64_t one_block_bytes = load_bytes * loads_in_flight;  // 32 KiB, all in flight at once
// Three blocks of the first kernel, and beside them the second kernel's: 2048 threads with 32 registers each
// are all that a multiprocessor keeps.
constexpr int blocks_per_multiprocessor = 3;
constexpr int resident_blocks = blocks_per_multiprocessor + 1;
// From here on the first kernel is the ring of 08_bulk_copy: 32 of its pieces for each multiprocessor.
constexpr std::int64_t ring_bytes_each = 32 * bulk_piece_bytes;

std::int64_t bytes_of(const problem::parameters& p) {
  return p.n * p.type / 8;
}

bool is_for_ring(std::int64_t bytes) {
  return bytes >= multiprocessors() * ring_bytes_each;
}

// Of the first kernel. The one with loads has a load for each thread, and more where that is too many blocks.
int blocks_of(std::int64_t bytes) {
  if (is_for_ring(bytes)) return multiprocessors();
  return blocks_for(bytes, load_bytes, std::int64_t{multiprocessors()} * blocks_per_multiprocessor);
}

__device__ __forceinline__ float4 filled_with(float value) {
  return {value, value, value, value};
}
__device__ __forceinline__ double2 filled_with(double value) {
  return {value, value};
}

// The part of the calling thread in the reduction of n values. A load beyond the end is left out, so the end
// needs no loop of its own, which would wait for the memory once more. (int: a larger n is the ring's.)
template <class T, class Operation>
__device__ __forceinline__ T combine_loads(const T* values, int n) {
  using vector = typename vector_of<T>::type;
  constexpr Operation combine{};
  constexpr T identity = Operation::identity();
  const auto* vectors = reinterpret_cast<const vector*>(values);
  const int whole = n / vector_values<T>;
  const auto first = static_cast<int>(blockIdx.x * block_threads + threadIdx.x);
  const auto stride = static_cast<int>(gridDim.x * block_threads);
  // The values that fill no vector.
  const int rest = whole * vector_values<T> + first;
  T partial = rest < n ? values[rest] : identity;
  // Unrolled, the loop would have more instructions to fetch than a small array has values.
#pragma unroll 1
  for (int i = first; i < whole; i += loads_in_flight * stride) {
    vector loaded[loads_in_flight];
#pragma unroll
    for (int k = 0; k < loads_in_flight; ++k)
      loaded[k] = i + k * stride < whole ? vectors[i + k * stride] : filled_with(identity);
    T of_load[loads_in_flight];
#pragma unroll
    for (int k = 0; k < loads_in_flight; ++k) of_load[k] = combine_vector(loaded[k], combine);
    partial = combine(partial, combine(combine(of_load[0], of_load[1]), combine(of_load[2], of_load[3])));
  }
  return partial;
}

template <class T, class Operation>
__global__ void __launch_bounds__(block_threads, resident_blocks)
    load_kernel(const T* __restrict__ values, int n, T* __restrict__ partials) {
  trigger_dependents();
  const T partial = block_reduce<block_threads>(combine_loads<T, Operation>(values, n), Operation{});
  if (threadIdx.x == 0) partials[blockIdx.x] = partial;
}

template <class T, class Operation>
__global__ void __launch_bounds__(bulk_block_threads)
    ring_kernel(const T* __restrict__ values, std::int64_t n, T* __restrict__ partials) {
  trigger_dependents();
  const T partial =
      block_reduce<bulk_block_threads>(combine_bulk_share<T, Operation>(values, n), Operation{});
  if (threadIdx.x == 0) partials[blockIdx.x] = partial;
}

// One block. `values` is not __restrict__, which would allow the compiler to read them before the wait.
template <class T, class Operation>
__global__ void __launch_bounds__(block_threads, resident_blocks)
    result_kernel(const T* values, int n, T* result) {
  // exercise: result
  grid_dependency_sync();
  const T total = block_reduce<block_threads>(combine_loads<T, Operation>(values, n), Operation{});
  if (threadIdx.x == 0) *result = total;
  // end
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const std::int64_t bytes = bytes_of({.n = in.n, .type = static_cast<std::int64_t>(in.type)});
  const int blocks = blocks_of(bytes);
  const auto grid = dim3(static_cast<unsigned>(blocks));
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = static_cast<T*>(scratch.data);
    if (bytes <= one_block_bytes) {
      lab::launch(result_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, values, in.n, result);
      return;
    }
    if (is_for_ring(bytes)) {
      lab::launch(ring_kernel<T, Operation>, grid, dim3(bulk_block_threads), bulk_shared_bytes, stream,
                  values, in.n, partials);
    } else {
      lab::launch(load_kernel<T, Operation>, grid, dim3(block_threads), 0, stream, values, in.n, partials);
    }
    launch_early(result_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, partials, blocks,
                 result);
  });
}

// A value's longest way to a block's result: 4 additions for the loads of a step, one for each step, 10 in
// the block. Then the same for the blocks' results.
std::int64_t load_additions(std::int64_t bytes, int blocks) {
  return 4 + share(bytes, blocks * one_block_bytes) + 10;
}

double relative_error(const problem::parameters& p) {
  const std::int64_t bytes = bytes_of(p);
  if (bytes <= one_block_bytes) return rounding_error(p, load_additions(bytes, 1));
  const int blocks = blocks_of(bytes);
  return rounding_error(
      p, (is_for_ring(bytes) ? bulk_share_additions(p, blocks) : load_additions(bytes, blocks)) +
             load_additions(blocks * p.type / 8, 1));
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the second kernel is resident before the first has ended",
     .launch = launch,
     .workspace_bytes =
         [](const problem::parameters& p) {
           return static_cast<std::size_t>(blocks_of(bytes_of(p))) * sizeof(double);
         },
     // Four of them are the border of both first kernels on the emulator, which has four multiprocessors.
     .tile = ring_bytes_each / 4,
     .relative_error = relative_error,
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::reduction::dependent_launch
