// Look-back in an order that never changes, so that floats have the same bits in every run. 32 tiles are a
// group, and 32 groups a region. The last tile of a group publishes the group's total, and the last tile of a
// region all up to the region's end. A tile combines everything before its region, the groups before its own,
// and the tiles before it in its group. Only the regions form a chain, a thousandth as long as the row of
// tiles.
#include "stages/scan/fixed_order.hpp"

namespace lab::scan::fixed_order {
namespace {

template <class T, class Operation>
__global__ void __launch_bounds__(tile_threads, tile_blocks<T>)
    scan_kernel(const T* __restrict__ values, T* __restrict__ results, messages<T> sent, std::int64_t n,
                bool inclusive) {
  using tile = register_tile<T, Operation>;
  __shared__ T before;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile::values;
  tile own;
  own.load(values, first, n);
  const T total = own.scan();
  if (threadIdx.x < 32) {
    const T found = before_tile(sent, blockIdx.x, total, Operation{});
    if (threadIdx.x == 0) before = found;
  }
  __syncthreads();
  own.store(results, first, n, before, inclusive);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* results) {
    const std::int64_t tiles = parts(in.n, register_tile<T, Operation>::values);
    lab::launch(scan_kernel<T, Operation>, dim3(static_cast<unsigned>(tiles)), dim3(tile_threads), 0, stream,
                values, results, messages<T>::all_empty(scratch.data, tiles, stream), in.n, in.inclusive);
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "one pass, and totals combined in a fixed order: the same bits in every run",
     .launch = launch,
     .workspace_bytes = bytes_of_messages,
     .tile = largest_tile,
     .relative_error = error_in_fixed_order}};

}  // namespace
}  // namespace lab::scan::fixed_order
