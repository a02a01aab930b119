// The warm start as it should be, from which each wrong kernel departs in one way: by its operation, or by
// its warm-up. Stripes are a tile long.
#pragma once

#include "stages/ewm/tile_scan.hpp"

namespace lab::ewm::wrong {

inline constexpr int block_threads = 64;
inline constexpr int per_thread = 3;
inline constexpr int tile_outputs = block_threads * per_thread;

template <class Operation>
__global__ void __launch_bounds__(block_threads)
    average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                   std::int64_t warm_up, Operation operation) {
  using scans = tile_scan<Operation, block_threads, per_thread>;
  __shared__ typename scans::shared_state shared;
  scans tile(shared, operation);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_outputs;
  typename Operation::state before = operation.identity();
  for (std::int64_t start = first - tile_outputs; start >= 0 && before.values < warm_up;
       start -= tile_outputs) {
    tile.load(values, start, n);
    before = operation.combine(tile.scan().total, before);
  }
  tile.load(values, first, n);
  const auto in_tile = tile.scan().before;
  tile.store(operation.combine(before, in_tile), averages, first, n);
}

template <class Operation>
void launch_warm(const input& in, const output& out, cudaStream_t stream, std::int64_t warm_up,
                 const Operation& operation) {
  const auto blocks = static_cast<unsigned>((in.n + tile_outputs - 1) / tile_outputs);
  lab::launch(average_kernel<Operation>, dim3(blocks), dim3(block_threads), 0, stream, in.values,
              out.averages, in.n, warm_up, operation);
}

// Until a weight is no float64 any more: nothing is forgotten.
inline std::int64_t enough(const input& in) {
  return std::max(problem::values_to_decay(in.decay, 1100), in.min_periods);
}

// What departs by its operation alone, made of the right one.
template <template <class> class Wrong>
void launch_with(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    launch_warm(in, out, stream, enough(in), Wrong<Operation>{operation});
  });
}

}  // namespace lab::ewm::wrong
