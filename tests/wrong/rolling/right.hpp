// Window functions as they should be, one thread for each output, from which each wrong kernel departs in one
// way.
#pragma once

#include "stages/rolling/operations.hpp"

namespace lab::rolling::wrong {

inline constexpr int block_threads = 128;

// Output i of n: the window that ends with input i.
template <class Operation>
struct task {
  Operation operation;
  const double* values;
  std::int64_t i;
  std::int64_t window;
  std::int64_t min_periods;

  // Of inputs first .. last.
  __device__ typename Operation::state reduce(std::int64_t first, std::int64_t last) const {
    typename Operation::state all = operation.identity();
    for (std::int64_t j = first; j <= last; ++j) all = operation.combine(all, operation.lift(values[j]));
    return all;
  }
  // Of the window that ends with input `last`.
  __device__ typename Operation::state state_at(std::int64_t last) const {
    return reduce(last < window ? 0 : last - window + 1, last);
  }
  __device__ double result(const typename Operation::state& all) const {
    return windows::window_result(operation, all, i, window, min_periods);
  }
  __device__ double right() const { return result(state_at(i)); }
};

template <class Wrong, class Operation>
__global__ void __launch_bounds__(block_threads)
    rolling_kernel(double* results, std::int64_t n, task<Operation> task) {
  task.i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (task.i < n) results[task.i] = Wrong::output(task);
}

// Wrong::output(task) is a result, for any operation.
template <class Wrong>
void launch_over_outputs(const input& in, const output& out, cudaStream_t stream) {
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
    lab::launch(rolling_kernel<Wrong, Operation>, dim3(blocks), dim3(block_threads), 0, stream, out.results,
                in.n, task<Operation>{operation, in.values, 0, in.window, in.min_periods});
  });
}

// The outputs that a thread of a running kernel has in turn: those from here to i have one behind the other.
inline constexpr std::int64_t turn_outputs = 16;
__device__ inline std::int64_t first_of_turn(std::int64_t i) {
  return i / turn_outputs * turn_outputs;
}

}  // namespace lab::rolling::wrong
