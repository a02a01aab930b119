// Long windows as they should be: each block publishes the total of its tile, and adds up those of the tiles
// that its windows span (rolling/06_long_windows), from which each wrong kernel departs in one way. Tiles are
// of 512 values.
#pragma once

#include "common/windows/tile_messages.hpp"
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {

inline constexpr std::int64_t total_tile = 4 * block_threads;

struct right_totals {
  // Of tiles first .. own - 1.
  template <class State, class Operation>
  static __device__ State between(const windows::tile_messages<State>& sent, std::int64_t first,
                                  std::int64_t own, const Operation& operation) {
    State all = operation.identity();
    for (std::int64_t k = first; k < own; ++k) all = operation.combine(all, sent.total_of(k));
    return all;
  }
};

template <class Wrong, class Operation>
__global__ void __launch_bounds__(block_threads)
    totals_kernel(double* results, std::int64_t n, windows::tile_messages<typename Operation::state> sent,
                  task<Operation> task) {
  const std::int64_t own = blockIdx.x;
  const std::int64_t begin = own * total_tile;
  const std::int64_t end = begin + total_tile < n ? begin + total_tile : n;
  if (threadIdx.x == 0) sent.publish(own, task.reduce(begin, end - 1), task.operation.identity());
  for (task.i = begin + threadIdx.x; task.i < end; task.i += block_threads) {
    const std::int64_t first = task.i < task.window ? 0 : task.i - task.window + 1;
    const std::int64_t next = first / total_tile + 1;
    if (next > own) {
      results[task.i] = task.right();
      continue;
    }
    auto all = task.reduce(first, next * total_tile - 1);
    all = task.operation.combine(all, Wrong::between(sent, next, own, task.operation));
    results[task.i] = task.result(task.operation.combine(all, task.reduce(begin, task.i)));
  }
}

inline std::int64_t total_tiles(std::int64_t n) {
  return (n + total_tile - 1) / total_tile;
}

template <class Wrong>
void launch_totals(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    using messages = windows::tile_messages<typename Operation::state>;
    const std::int64_t tiles = total_tiles(in.n);
    lab::launch(totals_kernel<Wrong, Operation>, dim3(static_cast<unsigned>(tiles)), dim3(block_threads), 0,
                stream, out.results, in.n, messages::cleared(scratch.data, tiles, stream),
                task<Operation>{operation, in.values, 0, in.window, in.min_periods});
  });
}

inline std::size_t totals_bytes(const problem::parameters& p) {
  std::size_t bytes = 0;
  with_operation(problem::bind_input(p, nullptr), [&]<class Operation>(const Operation&) {
    bytes = windows::tile_messages<typename Operation::state>::bytes(total_tiles(p.n));
  });
  return bytes;
}

template <class Wrong>
stage<problem> stage_of_totals(const char* idea) {
  return {.idea = idea, .launch = launch_totals<Wrong>, .workspace_bytes = totals_bytes, .tile = total_tile};
}

}  // namespace lab::rolling::wrong
