// Look-back in an order that never changes, so that floats have the same bits in every run. 32 tiles are a
// group, and 32 groups a region. The last tile of a group publishes the group's total, and the last tile of a
// region all up to the region's end. A tile combines everything before its region, the groups before its own,
// and the tiles before it in its group. Only the regions form a chain, a thousandth as long as the row of
// tiles.
#include "stages/scan/message.hpp"
#include "stages/scan/tile.hpp"

namespace lab::scan::fixed_order {
namespace {

// What blocks send: of each tile and each group its total, of each region all before it.
template <class T>
struct messages {
  message<T>* tiles;
  message<T>* groups;
  message<T>* regions;

  static std::int64_t count(std::int64_t tiles) { return tiles + tiles / 32 + tiles / 1024 + 1; }
  messages(void* memory, std::int64_t count)
      : tiles(static_cast<message<T>*>(memory)), groups(tiles + count), regions(groups + count / 32) {}
};

// The combination of `count` messages, fewer than 32, in lane 0 of the warp that calls.
template <class T, class Operation>
__device__ T wait_for(message<T>* first, int count, Operation combine) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  T value = Operation::identity();
  if (lane < count) {
    while (!first[lane].receive(value)) {
    }
  }
  __syncwarp();
  return combine_lanes(value, combine);
}

// The combination of all tiles before tile `index`, whose total is `own`; in lane 0 of the warp that calls.
template <class T, class Operation>
__device__ T before_tile(messages<T> sent, std::int64_t index, T own, Operation combine) {
  const bool is_first_lane = threadIdx.x % 32 == 0;
  const std::int64_t group = index / 32, region = index / 1024;
  if (is_first_lane) sent.tiles[index].send(own);
  const T in_group = wait_for(sent.tiles + group * 32, static_cast<int>(index % 32), combine);
  const T with_own = combine(in_group, own);
  const bool ends_group = index % 32 == 31, ends_region = index % 1024 == 1023;
  if (is_first_lane && ends_group) sent.groups[group].send(with_own);
  const T groups = wait_for(sent.groups + region * 32, static_cast<int>(group % 32), combine);
  const T before_region = wait_for(sent.regions + region - 1, region > 0 ? 1 : 0, combine);
  const T before_group = combine(before_region, groups);
  if (is_first_lane && ends_region) sent.regions[region].send(combine(before_group, with_own));
  return combine(before_group, in_group);
}

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
    const auto bytes = static_cast<std::size_t>(messages<T>::count(tiles)) * sizeof(message<T>);
    CUDA_CHECK(cudaMemsetAsync(scratch.data, 0, bytes, stream));
    lab::launch(scan_kernel<T, Operation>, dim3(static_cast<unsigned>(tiles)), dim3(tile_threads), 0, stream,
                values, results, messages<T>(scratch.data, tiles), in.n, in.inclusive);
  });
}

// Through its tile, 5 steps each in its group and its region, and one addition for each region before.
double relative_error(const problem::parameters& p) {
  return rounding_error(p, tile_additions + 2 + 5 + 5 + 3 + parts(p.n, largest_tile * 1024));
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "one pass, and totals combined in a fixed order: the same bits in every run",
     .launch = launch,
     .workspace_bytes =
         [](const problem::parameters& p) {
           return static_cast<std::size_t>(messages<std::int64_t>::count(parts(p.n, largest_tile / 2))) *
                  sizeof(message<std::int64_t>);
         },
     .tile = largest_tile,
     .relative_error = relative_error}};

}  // namespace
}  // namespace lab::scan::fixed_order
