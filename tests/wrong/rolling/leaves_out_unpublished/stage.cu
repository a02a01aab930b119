// Adds up the totals of the tiles between, as blocks publish them; but does not wait for those that are late.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

constexpr int tile = block_threads;

template <class State>
struct totals {
  State* total;
  unsigned* there;

  static std::size_t bytes(std::int64_t tiles) {
    return static_cast<std::size_t>(tiles) * (sizeof(State) + sizeof(unsigned));
  }
};

template <class Operation>
__global__ void __launch_bounds__(block_threads)
    tile_kernel(double* results, std::int64_t n, totals<typename Operation::state> published,
                task<Operation> task) {
  const std::int64_t own = blockIdx.x;
  const std::int64_t start = own * tile;
  if (threadIdx.x == 0) {
    published.total[own] = task.reduce(start, start + tile <= n ? start + tile - 1 : n - 1);
    __threadfence();
    atomicExch(published.there + own, 1U);
  }
  __syncthreads();
  task.i = start + threadIdx.x;
  if (task.i >= n) return;
  const std::int64_t first = task.i < task.window ? 0 : task.i - task.window + 1;
  const std::int64_t first_whole = first / tile + 1;
  if (first_whole > own) {
    results[task.i] = task.right();
    return;
  }
  auto all = task.reduce(first, first_whole * tile - 1);
  for (std::int64_t other = first_whole; other < own; ++other) {
    if (atomicAdd(published.there + other, 0U) != 0)
      all = task.operation.combine(all, published.total[other]);
  }
  results[task.i] = task.result(task.operation.combine(all, task.reduce(start, task.i)));
}

std::int64_t tiles_of(std::int64_t n) {
  return (n + tile - 1) / tile;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    using state = typename Operation::state;
    const std::int64_t tiles = tiles_of(in.n);
    auto* const total = static_cast<state*>(scratch.data);
    const totals<state> published{total, reinterpret_cast<unsigned*>(total + tiles)};
    CUDA_CHECK(
        cudaMemsetAsync(published.there, 0, static_cast<std::size_t>(tiles) * sizeof(unsigned), stream));
    lab::launch(tile_kernel<Operation>, dim3(static_cast<unsigned>(tiles)), dim3(block_threads), 0, stream,
                out.results, in.n, published,
                task<Operation>{operation, in.values, 0, in.window, in.min_periods});
  });
}

std::size_t workspace_bytes(const problem::parameters& p) {
  std::size_t bytes = 0;
  with_operation(problem::bind_input(p, nullptr), [&]<class Operation>(const Operation&) {
    bytes = totals<typename Operation::state>::bytes(tiles_of(p.n));
  });
  return bytes;
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "leaves out tiles that are not published yet",
                                        .launch = launch,
                                        .workspace_bytes = workspace_bytes,
                                        .tile = tile}};

}  // namespace
}  // namespace lab::rolling::wrong
