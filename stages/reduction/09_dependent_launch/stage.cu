// Two kernels again, as in 04_vectorized, but the second one is launched early (programmatic dependent
// launch): its block is already on a multiprocessor when the first kernel ends, and only waits for the
// blocks' results. So there is no counter, no memset before it, and nearly no gap between the kernels. What
// one block can read at once is the work of the second kernel alone.
#include "common/block_reduce.hpp"
#include "common/dependent_launch.hpp"
#include "common/multiprocessors.hpp"
#include "stages/reduction/problem.hpp"
#include "stages/reduction/vectors.hpp"

namespace lab::reduction::dependent_launch {
namespace {

constexpr int block_threads = 512;
constexpr int blocks_per_multiprocessor = 4;  // at a time: all of its 2048 threads
constexpr int loads_in_flight = 4;
static_assert(loads_in_flight == 4, "the kernels combine four loads in pairs");
constexpr std::int64_t load_bytes = block_threads * 16;                 // 8 KiB: one load of each thread
constexpr std::int64_t one_block_bytes = load_bytes * loads_in_flight;  // 32 KiB, all in flight at once
// A chunk is what a block reads: short, so that small arrays have enough blocks, or up to 128 KiB, so that
// the results of large ones, a value each, are nothing to the array.
constexpr std::int64_t chunks_per_multiprocessor = 16;
constexpr std::int64_t longest_chunk = 16 * load_bytes;

std::int64_t bytes_of(const problem::parameters& p) {
  return p.n * p.type / 8;
}

// Of the first kernel.
std::int64_t chunk_bytes_of(std::int64_t bytes) {
  const std::int64_t loads = bytes / (load_bytes * multiprocessors() * chunks_per_multiprocessor);
  return std::clamp(loads * load_bytes, load_bytes, longest_chunk);
}
std::int64_t blocks_of(std::int64_t bytes) {
  return std::max<std::int64_t>(1, parts(bytes, chunk_bytes_of(bytes)));
}

__device__ __forceinline__ float4 filled_with(float value) {
  return {value, value, value, value};
}
__device__ __forceinline__ double2 filled_with(double value) {
  return {value, value};
}

// The part of the calling thread in the reduction of n values by its block. A load beyond the end is left
// out, so the end needs no loop of its own, which would wait for the memory once more.
template <class T, class Operation>
__device__ __forceinline__ T combine_loads(const T* values, int n) {
  using vector = typename vector_of<T>::type;
  constexpr Operation combine{};
  constexpr T identity = Operation::identity();
  const auto* vectors = reinterpret_cast<const vector*>(values);
  const auto thread = static_cast<int>(threadIdx.x);
  const int whole = n / vector_values<T>;
  // The values that fill no vector.
  const int rest = whole * vector_values<T> + thread;
  T partial = rest < n ? values[rest] : identity;
  // Unrolled, the loop would have more instructions to fetch than a small array has values.
#pragma unroll 1
  for (int i = thread; i < whole; i += loads_in_flight * block_threads) {
    vector loaded[loads_in_flight];
#pragma unroll
    for (int k = 0; k < loads_in_flight; ++k)
      loaded[k] = i + k * block_threads < whole ? vectors[i + k * block_threads] : filled_with(identity);
    T of_load[loads_in_flight];
#pragma unroll
    for (int k = 0; k < loads_in_flight; ++k) of_load[k] = combine_vector(loaded[k], combine);
    partial = combine(partial, combine(combine(of_load[0], of_load[1]), combine(of_load[2], of_load[3])));
  }
  return partial;
}

// A block for each `chunk` values.
template <class T, class Operation>
__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor)
    chunk_kernel(const T* __restrict__ values, std::int64_t n, int chunk, T* __restrict__ partials) {
  trigger_dependents();
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * chunk;
  const auto count = static_cast<int>(n - begin < chunk ? n - begin : chunk);
  const T partial =
      block_reduce<block_threads>(combine_loads<T, Operation>(values + begin, count), Operation{});
  if (threadIdx.x == 0) partials[blockIdx.x] = partial;
}

// One block. `values` is not __restrict__, which would allow the compiler to read them before the wait.
template <class T, class Operation>
__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor)
    result_kernel(const T* values, int n, T* result) {
  // exercise: result
  grid_dependency_sync();
  const T total = block_reduce<block_threads>(combine_loads<T, Operation>(values, n), Operation{});
  if (threadIdx.x == 0) *result = total;
  // end
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const std::int64_t bytes = bytes_of({.n = in.n, .type = static_cast<std::int64_t>(in.type)});
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    if (bytes <= one_block_bytes) {
      lab::launch(result_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, values,
                  static_cast<int>(in.n), result);
      return;
    }
    auto* partials = static_cast<T*>(scratch.data);
    const auto blocks = static_cast<int>(blocks_of(bytes));
    const auto chunk = static_cast<int>(chunk_bytes_of(bytes) / static_cast<std::int64_t>(sizeof(T)));
    lab::launch(chunk_kernel<T, Operation>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0,
                stream, values, in.n, chunk, partials);
    launch_early(result_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, partials, blocks,
                 result);
  });
}

// A value's longest way to a block's result: 4 additions for the loads of a step, one for each step, one of a
// value that fills no vector, 10 in the block. Then the same for the blocks' results.
std::int64_t block_additions(std::int64_t bytes) {
  return 4 + parts(bytes, one_block_bytes) + 1 + 10;
}

double relative_error(const problem::parameters& p) {
  const std::int64_t bytes = bytes_of(p);
  if (bytes <= one_block_bytes) return rounding_error(p, block_additions(bytes));
  return rounding_error(
      p, block_additions(chunk_bytes_of(bytes)) + block_additions(blocks_of(bytes) * p.type / 8));
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "the second kernel is resident before the first has ended",
                                        .launch = launch,
                                        .workspace_bytes =
                                            [](const problem::parameters& p) {
                                              return static_cast<std::size_t>(blocks_of(bytes_of(p))) *
                                                     sizeof(double);
                                            },
                                        // Above four of them, or two of float64, a second kernel is needed.
                                        .tile = load_bytes / 4,
                                        .relative_error = relative_error,
                                        .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::reduction::dependent_launch
