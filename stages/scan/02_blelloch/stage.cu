// A tree over the tile, twice: on the way up each node gets the total of the values below it, on the way down
// the total of all values before it. That is 2 (n - 1) combinations for n values instead of n log2(n).
#include "stages/scan/levels.hpp"

namespace lab::scan::blelloch {
namespace {

constexpr int block_threads = 512;
constexpr int tile = 2 * block_threads;
constexpr int additions = 10 + 10 + 1;  // up, down, and the value itself

template <class T, class Operation>
__global__ void __launch_bounds__(block_threads)
    scan_kernel(const T* values, T* results, T* totals, std::int64_t n, bool inclusive) {
  constexpr Operation combine{};
  __shared__ T nodes[tile];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile;
  T own[2];
  for (int k = 0; k < 2; ++k) {
    const int at = thread + k * block_threads;
    own[k] = first + at < n ? values[first + at] : Operation::identity();
    nodes[at] = own[k];
  }
  // Up: a node's total stands at its last value.
  for (int half = 1; half < tile; half *= 2) {
    __syncthreads();
    const int right = 2 * half * (thread + 1) - 1;
    if (right < tile) nodes[right] = combine(nodes[right - half], nodes[right]);
  }
  // Down: before the left child comes what comes before its parent, before the right one the left one, too.
  if (thread == 0) {
    totals[blockIdx.x] = nodes[tile - 1];
    nodes[tile - 1] = Operation::identity();
  }
  for (int half = tile / 2; half > 0; half /= 2) {
    __syncthreads();
    const int right = 2 * half * (thread + 1) - 1;
    if (right < tile) {
      const T of_left = nodes[right - half];
      nodes[right - half] = nodes[right];
      nodes[right] = combine(nodes[right], of_left);
    }
  }
  __syncthreads();
  for (int k = 0; k < 2; ++k) {
    const int at = thread + k * block_threads;
    if (first + at < n) results[first + at] = inclusive ? combine(nodes[at], own[k]) : nodes[at];
  }
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* results) {
    scan_in_levels<Operation, T>(scan_kernel<T, Operation>, tile, block_threads, values, results,
                                 static_cast<T*>(scratch.data), in.n, in.inclusive, stream);
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a tree up and down: 2 combinations for each value",
                                        .launch = launch,
                                        .workspace_bytes = bytes_of_totals<tile>,
                                        .tile = tile,
                                        .relative_error = [](const problem::parameters& p) {
                                          return rounding_error(p, levels_of(p.n, tile) * (additions + 1));
                                        }}};

}  // namespace
}  // namespace lab::scan::blelloch
