// The tile lies in shared memory: each warp has its part copied in by a bulk copy, scans it there, and has
// the results copied out. A thread keeps in registers only what comes before its vectors, so that a
// multiprocessor has room for five blocks instead of three or four: while some wait for the tiles before
// theirs, the others load and store.
#include "common/bulk_copy.hpp"
#include "stages/scan/fixed_order.hpp"

namespace lab::scan::bulk_copy {
namespace {

constexpr int resident_blocks = 5;  // of 32 KiB; 65 536 registers are 48 for each thread

template <class T, class Operation>
using shared_tile = block_tile<T, Operation, shared_vectors<T>>;

template <class T, class Operation>
__global__ void __launch_bounds__(tile_threads, resident_blocks)
    scan_kernel(const T* __restrict__ values, T* __restrict__ results, messages<T> sent, std::int64_t n,
                bool inclusive) {
  using tile = shared_tile<T, Operation>;
  constexpr int warps = tile_threads / 32;
  constexpr int of_warp = tile::values / warps;
  auto* const shared = dynamic_shared<T>();
  __shared__ mbarrier landed[warps];
  __shared__ T before;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const bool is_first_lane = threadIdx.x % 32 == 0;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile::values;
  const bool is_whole = first + tile::values <= n;
  tile own(shared);
  if (is_whole) {
    if (is_first_lane) {
      landed[warp].initialise(1);
      fence_mbarrier_init();
      copy_in(shared + warp * of_warp, values + first + warp * of_warp, of_warp, landed[warp]);
    }
    __syncwarp();
    landed[warp].wait(0);
  } else {
    own.load(values, first, n);
  }
  const T total = own.scan();
  if (warp == 0) {
    const T found = before_tile(sent, blockIdx.x, total, Operation{});
    if (is_first_lane) before = found;
  }
  __syncthreads();
  if (!is_whole) return own.store(results, first, n, before, inclusive);
  own.store(shared, 0, tile::values, before, inclusive);
  fence_proxy_async();
  __syncwarp();
  if (is_first_lane) {
    copy_out(results + first + warp * of_warp, shared + warp * of_warp, of_warp);
    commit_group();
    wait_group_read<0>();
  }
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* results) {
    constexpr int tile = shared_tile<T, Operation>::values;
    const std::int64_t tiles = parts(in.n, tile);
    lab::launch(scan_kernel<T, Operation>, dim3(static_cast<unsigned>(tiles)), dim3(tile_threads),
                tile * sizeof(T), stream, values, results,
                messages<T>::all_empty(scratch.data, tiles, stream), in.n, in.inclusive);
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "bulk copies: the tile in shared memory, five blocks",
                                        .launch = launch,
                                        .workspace_bytes = bytes_of_messages,
                                        .tile = largest_tile,
                                        .relative_error = error_in_fixed_order,
                                        .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::scan::bulk_copy
