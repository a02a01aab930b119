// A tile in shared memory is scanned in ten steps: in step k each thread combines its value with the one 2^k
// before it. Each step reads one buffer and writes the other. Afterwards the totals of the tiles are scanned
// in the same way, and added to the tiles (levels.hpp).
#include "stages/scan/levels.hpp"

namespace lab::scan::hillis_steele {
namespace {

constexpr int tile = 1024;  // a value for each thread
constexpr int additions = 10;

template <class T, class Operation>
__global__ void __launch_bounds__(tile)
    scan_kernel(const T* values, T* results, T* totals, std::int64_t n, bool inclusive) {
  constexpr Operation combine{};
  __shared__ T buffers[2][tile];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * tile + thread;
  buffers[0][thread] = i < n ? values[i] : Operation::identity();
  __syncthreads();
  int from = 0;
  // exercise: steps
  for (int distance = 1; distance < tile; distance *= 2) {
    const T own = buffers[from][thread];
    buffers[1 - from][thread] = thread >= distance ? combine(buffers[from][thread - distance], own) : own;
    from = 1 - from;
    __syncthreads();
  }
  // end
  const int last = inclusive ? thread : thread - 1;
  if (i < n) results[i] = last < 0 ? Operation::identity() : buffers[from][last];
  if (thread == tile - 1) totals[blockIdx.x] = buffers[from][thread];
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* results) {
    scan_in_levels<Operation, T>(scan_kernel<T, Operation>, tile, tile, values, results,
                                 static_cast<T*>(scratch.data), in.n, in.inclusive, stream);
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "each value is combined with the one 1, 2, 4, ... before it",
                                        .launch = launch,
                                        .workspace_bytes = bytes_of_totals<tile>,
                                        .tile = tile,
                                        .owner_of = consecutive_owner<tile, 1>,
                                        .relative_error = [](const problem::parameters& p) {
                                          return rounding_error(p, levels_of(p.n, tile) * (additions + 1));
                                        }}};

}  // namespace
}  // namespace lab::scan::hillis_steele
