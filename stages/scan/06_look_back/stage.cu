// One pass: each block scans a tile, publishes the tile's total, and then looks back: it combines what the
// blocks before it have published, up to one that already knows everything before itself (Merrill and
// Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016). Values are read once and
// results written once: 2 n. A block waits only for blocks with lower indices, and these have been started
// before it.
#include "stages/scan/message.hpp"
#include "stages/scan/tile.hpp"

namespace lab::scan::look_back {
namespace {

template <class T>
struct messages {
  message<T> total;   // of the tile
  message<T> prefix;  // of all up to the end of the tile
};

// The combination of all tiles before tile `index`, in lane 0 of the warp that calls; 32 tiles at a time, the
// nearest in lane 31.
template <class T, class Operation>
__device__ T look_back(messages<T>* tiles, std::int64_t index, Operation combine) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  T before = Operation::identity();
  for (std::int64_t next = index - 32;; next -= 32) {
    const std::int64_t mine = next + lane;
    T value = Operation::identity();
    bool is_prefix = mine < 0;  // before the first tile there is nothing
    bool is_known = is_prefix;
    unsigned prefixes = 0;
    unsigned needed = 0;
    do {
      if (!is_prefix) {
        is_prefix = tiles[mine].prefix.receive(value);
        is_known = is_prefix || tiles[mine].total.receive(value);
      }
      prefixes = __ballot_sync(0xffffffffu, is_prefix);
      // The last prefix, and all totals behind it.
      needed = prefixes == 0 ? 0xffffffffu : 0xffffffffu << (31 - __clz(static_cast<int>(prefixes)));
    } while ((__ballot_sync(0xffffffffu, is_known) & needed) != needed);
    before =
        combine(combine_lanes((needed >> lane & 1) != 0 ? value : Operation::identity(), combine), before);
    if (prefixes != 0) return before;
  }
}

template <class T, class Operation>
__global__ void __launch_bounds__(tile_threads, tile_blocks<T>)
    scan_kernel(const T* __restrict__ values, T* __restrict__ results, messages<T>* tiles, std::int64_t n,
                bool inclusive) {
  using tile = register_tile<T, Operation>;
  constexpr Operation combine{};
  __shared__ T before_tile;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile::values;
  messages<T>& mine = tiles[blockIdx.x];
  tile own;
  own.load(values, first, n);
  const T total = own.scan();
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) mine.total.send(total);
    const T before = look_back(tiles, blockIdx.x, combine);
    if (threadIdx.x == 0) {
      mine.prefix.send(combine(before, total));
      before_tile = before;
    }
  }
  __syncthreads();
  own.store(results, first, n, before_tile, inclusive);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* results) {
    const std::int64_t tiles = parts(in.n, register_tile<T, Operation>::values);
    auto* const sent = static_cast<messages<T>*>(scratch.data);
    CUDA_CHECK(cudaMemsetAsync(sent, 0, static_cast<std::size_t>(tiles) * sizeof(messages<T>), stream));
    lab::launch(scan_kernel<T, Operation>, dim3(static_cast<unsigned>(tiles)), dim3(tile_threads), 0, stream,
                values, results, sent, in.n, in.inclusive);
  });
}

// In the worst case, one addition for each tile before.
double relative_error(const problem::parameters& p) {
  return rounding_error(p, tile_additions + 2 + parts(p.n, largest_tile) + 5);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "one pass: blocks publish totals and look back",
                                        .launch = launch,
                                        .workspace_bytes =
                                            [](const problem::parameters& p) {
                                              return static_cast<std::size_t>(parts(p.n, largest_tile / 2)) *
                                                     sizeof(messages<std::int64_t>);
                                            },
                                        .tile = largest_tile,
                                        .relative_error = relative_error,
                                        .traits = {.nondeterministic = true}}};

}  // namespace
}  // namespace lab::scan::look_back
