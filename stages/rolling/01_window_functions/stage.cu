// Window functions are written as if for one thread: each gets the values of its outputs and the history
// before them, and knows nothing of blocks or memory. The kernel around them copies a tile and its halo into
// shared memory and gives every thread 48 consecutive outputs.
//
// Sum, mean and variance update the result of the output before. Minimum, maximum and every other function
// read their whole window for every output. The updates have three weaknesses: errors add up, a NaN never
// leaves, and the variance is the difference of two nearly equal numbers.
#include <cmath>

#include "common/windows/suffix_prefix.hpp"
#include "stages/rolling/problem.hpp"

namespace lab::rolling::window_functions {
namespace {

constexpr int block_threads = 64;
constexpr int thread_outputs = 48;
constexpr int tile_outputs = block_threads * thread_outputs;  // 3072

constexpr std::size_t shared_bytes(std::int64_t window) {
  return static_cast<std::size_t>(tile_outputs + window - 1) * sizeof(double);
}

// What a window function is given: data[0] is the newest value of its first output, data[-1] the one before.
// `history` values lie before data[0], at most window - 1; `count` outputs are wanted.
struct task {
  const double* data;
  std::int64_t history;
  std::int64_t window;
  double* outputs;
  int count;

  // Of output k, once its window is complete.
  __device__ bool complete(int k) const { return k + history >= window - 1; }
};

// Running sums of values and of squares.
struct incremental {
  rolling::operation operation;

  __device__ void operator()(const task& task) const {
    const auto w = static_cast<double>(task.window);
    double sum = 0;
    double squares = 0;
    bool summed = false;
    for (int k = 0; k < task.count; ++k) {
      if (!task.complete(k)) {
        task.outputs[k] = incomplete;
        continue;
      }
      const double newest = task.data[k];
      // exercise: update
      if (summed) {
        const double left = task.data[k - task.window];
        sum += newest - left;
        squares += newest * newest - left * left;
      } else {
        for (std::int64_t back = task.window - 1; back >= 0; --back) {
          const double x = task.data[k - back];
          sum += x;
          squares += x * x;
        }
        summed = true;
      }
      // end
      task.outputs[k] = finish(sum, squares, w);
    }
  }

 private:
  __device__ double finish(double sum, double squares, double w) const {
    if (operation == operation::sum) return sum;
    const double mean = sum / w;
    if (operation == operation::mean) return mean;
    if (w < 2) return NAN;
    const double variance = (squares / w - mean * mean) * w / (w - 1);
    const double positive = variance < 0 ? 0 : variance;  // rounding alone makes it negative
    return operation == operation::std ? sqrt(positive) : positive;
  }
};

// Any function of a window, called for each output: `window` values of which the last is the newest.
template <class Function>
struct whole_window {
  Function function;

  __device__ void operator()(const task& task) const {
    for (int k = 0; k < task.count; ++k) {
      task.outputs[k] =
          task.complete(k) ? function(task.data + k - (task.window - 1), task.window) : incomplete;
    }
  }
};

struct extremum {
  double sign;  // 1 for the maximum, -1 for the minimum
  __device__ double operator()(const double* values, std::int64_t window) const {
    // exercise: extremum
    double largest = sign * values[0];
    for (std::int64_t k = 1; k < window; ++k) {
      const double x = sign * values[k];
      if (x > largest || x != x) largest = x;
      if (largest != largest) break;
    }
    return sign * largest;
    // end
  }
};

struct beginning_minus_ending {
  __device__ double operator()(const double* values, std::int64_t window) const {
    return values[0] - values[window - 1];
  }
};

struct user_function {
  __device__ double operator()(const double* values, std::int64_t window) const {
    const user_operation operation{};
    user_operation::state all = operation.lift(values[0]);
    for (std::int64_t k = 1; k < window; ++k) all = operation.combine(all, operation.lift(values[k]));
    return operation.finish(all, window);
  }
};

template <class Function>
__global__ void __launch_bounds__(block_threads)
    rolling_kernel(const double* __restrict__ values, double* __restrict__ results, std::int64_t n,
                   std::int64_t window, Function function) {
  // tile[k] holds input first - halo + k; the outputs of the block begin at `first`.
  double* tile = dynamic_shared<double>();
  const std::int64_t halo = window - 1;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_outputs;
  for (std::int64_t k = threadIdx.x; k < tile_outputs + halo; k += block_threads) {
    const std::int64_t j = first - halo + k;
    tile[k] = j >= 0 && j < n ? values[j] : 0.0;
  }
  __syncthreads();
  const std::int64_t place = static_cast<std::int64_t>(threadIdx.x) * thread_outputs;
  const std::int64_t i = first + place;
  if (i >= n) return;
  double outputs[thread_outputs];
  const int count = n - i < thread_outputs ? static_cast<int>(n - i) : thread_outputs;
  function(task{tile + halo + place, i < halo ? i : halo, window, outputs, count});
  for (int k = 0; k < count; ++k) results[i + k] = outputs[k];
}

template <class Function>
void launch_one(const input& in, const output& out, cudaStream_t stream, const Function& function) {
  const auto blocks = static_cast<unsigned>((in.n + tile_outputs - 1) / tile_outputs);
  lab::launch(rolling_kernel<Function>, dim3(blocks), dim3(block_threads), shared_bytes(in.window), stream,
              in.values, out.results, in.n, in.window, function);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  switch (in.operation) {
    case operation::min:
    case operation::max:
      return launch_one(in, out, stream,
                        whole_window<extremum>{{in.operation == operation::max ? 1.0 : -1.0}});
    case operation::first_minus_last:
      return launch_one(in, out, stream, whole_window<beginning_minus_ending>{});
    case operation::user:
      if (in.expression) return launch_one(in, out, stream, whole_window<window_expression>{*in.expression});
      return launch_one(in, out, stream, whole_window<user_function>{});
    default:
      return launch_one(in, out, stream, incremental{in.operation});
  }
}

std::string unsupported(const problem::parameters& p) {
  const input in = problem::bind_input(p, nullptr);
  if (in.missing == missing::skip) return "it does not count the values that are not NaN";
  if (problem::min_periods(p) < p.window) return "its windows are whole: it knows no min-periods";
  int device = 0;
  int max_bytes = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&max_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return windows::window_too_long(in.window, max_bytes / std::int64_t{sizeof(double)} - tile_outputs + 1);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "functions written for one thread: 48 outputs each, sums updated, all else O(window)",
     .launch = launch,
     .unsupported = unsupported,
     .tile = tile_outputs,
     .owner_of = consecutive_owner<tile_outputs, thread_outputs>,
     .traits = {.drifts = true, .leaks_nonfinite = true}}};

}  // namespace
}  // namespace lab::rolling::window_functions
