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
constexpr std::int64_t load_bytes = block_threads * 16;            // 8 KiB: a load of each thread
constexpr std::int64_t step_bytes = load_bytes * loads_in_flight;  // 32 KiB, all in flight at once
// A multiprocessor keeps 2048 threads: three blocks of the first kernel, and the one of the second beside
// them.
constexpr int blocks_per_multiprocessor = 3;
constexpr int resident_blocks = blocks_per_multiprocessor + 1;
// From this many pieces of 16 KiB for each multiprocessor on, the ring of bulk copies is faster.
constexpr std::int64_t ring_pieces = 32;

// What the first kernel is: none where one block is enough.
enum class first_kernel { none, loads, ring };

first_kernel first_kernel_of(const problem::parameters& p) {
  const std::int64_t bytes = p.n * p.type / 8;
  if (bytes <= step_bytes) return first_kernel::none;
  return bytes < multiprocessors() * ring_pieces * bulk_piece_bytes ? first_kernel::loads
                                                                    : first_kernel::ring;
}

int blocks_of(const problem::parameters& p) {
  const std::int64_t bytes = p.n * p.type / 8;
  return first_kernel_of(p) == first_kernel::ring
             ? multiprocessors()
             : blocks_for(bytes, load_bytes, std::int64_t{multiprocessors()} * blocks_per_multiprocessor);
}

__device__ __forceinline__ float4 identities_of(float identity) {
  return {identity, identity, identity, identity};
}
__device__ __forceinline__ double2 identities_of(double identity) {
  return {identity, identity};
}

// The part of the calling thread in the reduction of n values. A load beyond the end is left out, so the end
// needs no loop of its own, which would wait for the memory once more.
template <class T, class Operation>
__device__ __forceinline__ T combine_loads(const T* values, std::int64_t n) {
  using vector = typename vector_of<T>::type;
  constexpr Operation combine{};
  const auto* vectors = reinterpret_cast<const vector*>(values);
  const std::int64_t whole = n / vector_values<T>;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * block_threads;
  // The values that fill no vector.
  const std::int64_t rest = whole * vector_values<T> + first;
  T partial = rest < n ? values[rest] : Operation::identity();
  for (std::int64_t i = first; i < whole; i += loads_in_flight * stride) {
    vector loaded[loads_in_flight];
#pragma unroll
    for (int k = 0; k < loads_in_flight; ++k)
      loaded[k] = i + k * stride < whole ? vectors[i + k * stride] : identities_of(Operation::identity());
    T of_load[loads_in_flight];
#pragma unroll
    for (int k = 0; k < loads_in_flight; ++k) of_load[k] = combine_vector(loaded[k], combine);
    partial = combine(partial, combine(combine(of_load[0], of_load[1]), combine(of_load[2], of_load[3])));
  }
  return partial;
}

// To the block's result: 4 additions within a step, one for each step, 10 in the block.
std::int64_t load_additions(std::int64_t bytes, int blocks) {
  return 4 + share(bytes, blocks * step_bytes) + 10;
}

template <class T, class Operation>
__global__ void __launch_bounds__(block_threads, resident_blocks)
    load_kernel(const T* __restrict__ values, std::int64_t n, T* __restrict__ partials) {
  // exercise: trigger
  trigger_dependents();
  // end
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

// One block. `values` is not __restrict__: the compiler may read what nobody writes before the wait.
template <class T, class Operation>
__global__ void __launch_bounds__(block_threads, resident_blocks)
    result_kernel(const T* values, std::int64_t n, T* result) {
  // exercise: wait
  grid_dependency_sync();
  // end
  const T total = block_reduce<block_threads>(combine_loads<T, Operation>(values, n), Operation{});
  if (threadIdx.x == 0) *result = total;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const problem::parameters p{.n = in.n, .type = static_cast<std::int64_t>(in.type)};
  const first_kernel first = first_kernel_of(p);
  const int blocks = blocks_of(p);
  const auto grid = dim3(static_cast<unsigned>(blocks));
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = static_cast<T*>(scratch.data);
    if (first == first_kernel::none) {
      lab::launch(result_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, values, in.n, result);
      return;
    }
    if (first == first_kernel::loads) {
      lab::launch(load_kernel<T, Operation>, grid, dim3(block_threads), 0, stream, values, in.n, partials);
    } else {
      lab::launch(ring_kernel<T, Operation>, grid, dim3(bulk_block_threads), bulk_shared_bytes, stream,
                  values, in.n, partials);
    }
    launch_early(result_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, partials, blocks,
                 result);
  });
}

// To the block's result, and from there in the second kernel.
double relative_error(const problem::parameters& p) {
  const std::int64_t bytes = p.n * p.type / 8;
  const int blocks = blocks_of(p);
  const std::int64_t second = load_additions(blocks * p.type / 8, 1);
  switch (first_kernel_of(p)) {
    case first_kernel::none:
      return rounding_error(p, load_additions(bytes, 1));
    case first_kernel::loads:
      return rounding_error(p, load_additions(bytes, blocks) + second);
    case first_kernel::ring:
      break;
  }
  return rounding_error(p, bulk_share_additions(p, blocks) + second);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the second kernel is resident before the first has ended",
     .launch = launch,
     .workspace_bytes =
         [](const problem::parameters& p) { return static_cast<std::size_t>(blocks_of(p)) * sizeof(double); },
     .tile = step_bytes / 4,
     .relative_error = relative_error,
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::reduction::dependent_launch
