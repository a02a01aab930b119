// Each thread has 16 values instead of one, in four vectors of 16 bytes, all of them on their way at once.
// The lanes scan the totals of their vectors, so that five shuffles serve 128 values instead of 32
// (tile.hpp).
#include "stages/scan/levels.hpp"
#include "stages/scan/tile.hpp"

namespace lab::scan::vectorized {
namespace {

template <class T, class Operation>
__global__ void __launch_bounds__(tile_threads, tile_blocks<T>)
    scan_kernel(const T* values, T* results, T* totals, std::int64_t n, bool inclusive) {
  using tile = register_tile<T, Operation>;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile::values;
  tile own;
  own.load(values, first, n);
  const T total = own.scan();
  own.store(results, first, n, Operation::identity(), inclusive);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* results) {
    scan_in_levels<Operation, T>(scan_kernel<T, Operation>, register_tile<T, Operation>::values, tile_threads,
                                 values, results, static_cast<T*>(scratch.data), in.n, in.inclusive, stream);
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "16 values for each thread, in vectors of 16 bytes",
                                        .launch = launch,
                                        .workspace_bytes = bytes_of_totals<largest_tile / 2>,
                                        .tile = largest_tile,
                                        .relative_error = [](const problem::parameters& p) {
                                          return rounding_error(
                                              p, levels_of(p.n, largest_tile) * (tile_additions + 1));
                                        }}};

}  // namespace
}  // namespace lab::scan::vectorized
