// Streams tiles through a ring of values that is one tile too short: the tile that enters takes the place of
// one that its windows still reach into.
#include "common/windows/suffix_prefix.hpp"
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

constexpr int tile = block_threads;
constexpr std::int64_t stripe = 8 * tile;
constexpr std::int64_t most_tiles = 192;  // 192 * 128 * 8 bytes = 192 KiB

// Tiles that the windows of one tile reach into, itself among them; the ring has one less.
std::int64_t tiles_of(std::int64_t window) {
  return (window - 1 + tile - 1) / tile + 1;
}

template <class Operation>
__global__ void __launch_bounds__(block_threads)
    ring_kernel(double* results, std::int64_t n, int ring_values, int halo_tiles, task<Operation> task) {
  double* ring = dynamic_shared<double>();
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * stripe;
  const std::int64_t reached = begin - static_cast<std::int64_t>(halo_tiles) * tile;
  for (std::int64_t start = reached; start < n && start < begin + stripe; start += tile) {
    task.i = start + threadIdx.x;
    __syncthreads();
    ring[(task.i - reached) % ring_values] = task.i >= 0 && task.i < n ? task.values[task.i] : 0;
    __syncthreads();
    if (start < begin || task.i >= n) continue;
    auto all = task.operation.identity();
    for (std::int64_t j = task.i < task.window ? 0 : task.i - task.window + 1; j <= task.i; ++j)
      all = task.operation.combine(all, task.operation.lift(ring[(j - reached) % ring_values]));
    results[task.i] = task.result(all);
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    const std::int64_t tiles = std::max<std::int64_t>(1, tiles_of(in.window) - 1);
    const auto blocks = static_cast<unsigned>((in.n + stripe - 1) / stripe);
    lab::launch(ring_kernel<Operation>, dim3(blocks), dim3(block_threads),
                static_cast<std::size_t>(tiles * tile) * sizeof(double), stream, out.results, in.n,
                static_cast<int>(tiles * tile), static_cast<int>(tiles_of(in.window) - 1),
                task<Operation>{operation, in.values, 0, in.window, in.min_periods});
  });
}

std::string unsupported(const problem::parameters& p) {
  return windows::window_too_long(problem::bind_input(p, nullptr).window, most_tiles * tile);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "reuses a slot of the ring too early",
                                        .launch = launch,
                                        .unsupported = unsupported,
                                        .tile = tile,
                                        .owner_of = consecutive_owner<tile, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong
