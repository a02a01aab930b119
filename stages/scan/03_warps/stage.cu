// A warp scans its 32 values in registers, by shuffles and without a barrier. Only the totals of the 32 warps
// go through shared memory, where the first warp scans them.
#include "stages/scan/levels.hpp"
#include "stages/scan/warp_scan.hpp"

namespace lab::scan::warps {
namespace {

constexpr int tile = 1024;  // a value for each thread
constexpr int warps = tile / 32;
constexpr int additions = 5 + 5 + 1;
static_assert(warps == 32, "one warp scans the totals of all");

template <class T, class Operation>
__global__ void __launch_bounds__(tile)
    scan_kernel(const T* values, T* results, T* totals, std::int64_t n, bool inclusive) {
  constexpr Operation combine{};
  __shared__ T of_warp[warps];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * tile + threadIdx.x;
  const T in_warp = warp_scan(i < n ? values[i] : Operation::identity(), combine);
  if (lane == 31) of_warp[warp] = in_warp;
  __syncthreads();
  if (warp == 0) of_warp[lane] = warp_scan(of_warp[lane], combine);
  __syncthreads();
  const T before_warp = warp == 0 ? Operation::identity() : of_warp[warp - 1];
  const T before_lane = __shfl_up_sync(0xffffffffu, in_warp, 1);
  const T in_tile = inclusive ? in_warp : lane == 0 ? Operation::identity() : before_lane;
  if (i < n) results[i] = combine(before_warp, in_tile);
  if (threadIdx.x == 0) totals[blockIdx.x] = of_warp[warps - 1];
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* results) {
    scan_in_levels<Operation, T>(scan_kernel<T, Operation>, tile, tile, values, results,
                                 static_cast<T*>(scratch.data), in.n, in.inclusive, stream);
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "warps scan in registers: two barriers instead of eleven",
                                        .launch = launch,
                                        .workspace_bytes = bytes_of_totals<tile>,
                                        .tile = tile,
                                        .owner_of = consecutive_owner<tile, 1>,
                                        .relative_error = [](const problem::parameters& p) {
                                          return rounding_error(p, levels_of(p.n, tile) * (additions + 1));
                                        }}};

}  // namespace
}  // namespace lab::scan::warps
