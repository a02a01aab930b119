// Each load moves 16 bytes (four float32 or two float64), and each thread issues four of them before it uses
// the first: 64 bytes for each of 2048 threads, 128 KiB on every multiprocessor. The values of the four loads
// are combined in pairs, and only the result is added to the thread's own. This chain has 1/16 of the
// additions, which saves time and rounding errors.
#include "common/block_reduce.hpp"
#include "common/multiprocessors.hpp"
#include "stages/reduction/problem.hpp"
#include "stages/reduction/vectors.hpp"

namespace lab::reduction::vectorized {
namespace {

constexpr int block_threads = 512;
constexpr int blocks_per_multiprocessor = 4;  // 2048 threads, all that a multiprocessor keeps
constexpr int loads_in_flight = 4;
constexpr std::int64_t tile_vectors = block_threads * loads_in_flight;
static_assert(loads_in_flight == 4, "the kernel combines four loads in pairs");

// The part of a thread in the reduction of n values: tiles of 2048 vectors are dealt to the blocks in turn.
template <class T, class Operation>
__device__ T combine_share(const T* __restrict__ values, std::int64_t n) {
  using vector = typename vector_of<T>::type;
  constexpr Operation combine{};
  const auto* vectors = reinterpret_cast<const vector*>(values);
  const std::int64_t whole = n / vector_values<T> / tile_vectors * tile_vectors;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * tile_vectors;
  T partial = Operation::identity();
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * tile_vectors + threadIdx.x; i < whole;
       i += stride) {
    // exercise: loads
    vector loaded[loads_in_flight];
#pragma unroll
    for (int k = 0; k < loads_in_flight; ++k) loaded[k] = vectors[i + k * block_threads];
    T of_load[loads_in_flight];
#pragma unroll
    for (int k = 0; k < loads_in_flight; ++k) of_load[k] = combine_vector(loaded[k], combine);
    partial = combine(partial, combine(combine(of_load[0], of_load[1]), combine(of_load[2], of_load[3])));
    // end
  }
  // What fills no tile: fewer than 8192 values, one by one.
  // exercise: tail
  for (std::int64_t i =
           whole * vector_values<T> + static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
       i < n; i += static_cast<std::int64_t>(gridDim.x) * block_threads) {
    partial = combine(partial, values[i]);
  }
  // end
  return partial;
}

template <class T, class Operation>
__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor)
    partial_kernel(const T* __restrict__ values, std::int64_t n, T* __restrict__ partials) {
  const T partial = block_reduce<block_threads>(combine_share<T, Operation>(values, n), Operation{});
  if (threadIdx.x == 0) partials[blockIdx.x] = partial;
}

int blocks_of(std::int64_t n) {
  return blocks_for(n, tile_vectors, std::int64_t{multiprocessors()} * blocks_per_multiprocessor);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const int blocks = blocks_of(in.n);
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = static_cast<T*>(scratch.data);
    lab::launch(partial_kernel<T, Operation>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0,
                stream, values, in.n, partials);
    lab::launch(partial_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, partials, blocks,
                result);
  });
}

// A value's longest way: 4 additions within its tile, one for each tile of its thread, at most 16 in the
// ragged end, and 10 in the block; then the last kernel's, which has at most 16 and 10.
double relative_error(const problem::parameters& p) {
  return rounding_error(p, 4 + share(p.n, blocks_of(p.n) * tile_vectors * 128 / p.type) + 16 + 10 + 16 + 10);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "16-byte loads, four in flight per thread",
                                        .launch = launch,
                                        .workspace_bytes =
                                            [](const problem::parameters&) {
                                              return multiprocessors() * blocks_per_multiprocessor *
                                                     sizeof(double);
                                            },
                                        .tile = 4 * tile_vectors,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::vectorized
