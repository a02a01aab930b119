// A fixed number of blocks, each with a stripe of neighbouring tiles. First each block combines its stripe
// and writes nothing but the total. One block scans the totals. Then each block scans its stripe, one tile
// after another, and carries what came before. The values are read twice and the results written once: 3 n
// instead of 4 n.
#include <algorithm>

#include "common/multiprocessors.hpp"
#include "stages/scan/tile.hpp"

namespace lab::scan::reduce_then_scan {
namespace {

template <class T, class Operation>
__global__ void __launch_bounds__(tile_threads, tile_blocks<T>)
    total_kernel(const T* __restrict__ values, T* __restrict__ totals, std::int64_t n, std::int64_t stripe) {
  using tile = register_tile<T, Operation>;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * stripe;
  const std::int64_t end = min(begin + stripe, n);
  T total = Operation::identity();
  for (std::int64_t first = begin; first < end; first += tile::values) {
    tile own;
    own.load(values, first, end);
    total = Operation{}(total, own.scan());
    __syncthreads();
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

// Scans stripe blockIdx.x behind before[blockIdx.x]; no `before`: behind nothing.
template <class T, class Operation>
__global__ void __launch_bounds__(tile_threads, tile_blocks<T>)
    scan_kernel(const T* values, T* results, const T* before, std::int64_t n, std::int64_t stripe,
                bool inclusive) {
  using tile = register_tile<T, Operation>;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * stripe;
  const std::int64_t end = min(begin + stripe, n);
  T carry = before == nullptr ? Operation::identity() : before[blockIdx.x];
  for (std::int64_t first = begin; first < end; first += tile::values) {
    tile own;
    own.load(values, first, end);
    const T total = own.scan();
    own.store(results, first, end, carry, inclusive);
    carry = Operation{}(carry, total);
    __syncthreads();
  }
}

std::int64_t most_blocks() {
  return std::int64_t{multiprocessors()} * tile_blocks<float>;
}

// Values of a block: as many whole tiles as it takes.
std::int64_t stripe_of(std::int64_t n, std::int64_t tile) {
  return parts(parts(n, tile), most_blocks()) * tile;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* results) {
    auto* const totals = static_cast<T*>(scratch.data);
    const std::int64_t stripe = stripe_of(in.n, register_tile<T, Operation>::values);
    const std::int64_t blocks = parts(in.n, stripe);
    const dim3 grid(static_cast<unsigned>(blocks));
    lab::launch(total_kernel<T, Operation>, grid, dim3(tile_threads), 0, stream, values, totals, in.n,
                stripe);
    lab::launch(scan_kernel<T, Operation>, dim3(1), dim3(tile_threads), 0, stream,
                static_cast<const T*>(totals), totals, static_cast<const T*>(nullptr), blocks, blocks, false);
    lab::launch(scan_kernel<T, Operation>, grid, dim3(tile_threads), 0, stream, values, results,
                static_cast<const T*>(totals), in.n, stripe, in.inclusive);
  });
}

// Through its tile, the tiles of its stripe, and the stripes before.
double relative_error(const problem::parameters& p) {
  const std::int64_t stripe = std::max<std::int64_t>(1, stripe_of(p.n, largest_tile));
  return rounding_error(p, 2 * tile_additions + 2 * (stripe / largest_tile + 1) + 8);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "totals of stripes first, then their scans: 3 n values moved instead of 4 n",
     .launch = launch,
     .workspace_bytes = [](const problem::parameters&) { return most_blocks() * sizeof(std::int64_t); },
     .tile = largest_tile,
     .relative_error = relative_error}};

}  // namespace
}  // namespace lab::scan::reduce_then_scan
