// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "common/windows/suffix_prefix.hpp"
#include "stages/rolling/operations.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::rolling::wrong {
namespace {

// Window functions as they should be, one thread for each output, from which each wrong kernel departs in one
// way.

constexpr int block_threads = 128;

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
constexpr std::int64_t turn_outputs = 16;
__device__ std::int64_t first_of_turn(std::int64_t i) {
  return i / turn_outputs * turn_outputs;
}

template <class Wrong>
void each(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<Wrong>(in, out, stream);
}

template <class Wrong>
stage<problem> as_stage(const char* idea) {
  return {.idea = idea,
          .launch = each<Wrong>,
          .tile = block_threads,
          .owner_of = consecutive_owner<block_threads, 1>};
}

// Combines the whole tiles that a window spans from the last to the first; what lies on either side, in
// order.
namespace adds_tiles_backwards {
constexpr std::int64_t tile = 1664;  // longer than any stretch of `gaps` without a value

struct adds_tiles_backwards {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    const std::int64_t first = task.i < task.window ? 0 : task.i - task.window + 1;
    const std::int64_t first_whole = first / tile + 1;
    const std::int64_t own = task.i / tile;
    if (first_whole >= own) return task.right();
    auto all = task.reduce(first, first_whole * tile - 1);
    for (std::int64_t other = own - 1; other >= first_whole; --other)
      all = task.operation.combine(all, task.reduce(other * tile, other * tile + tile - 1));
    return task.result(task.operation.combine(all, task.reduce(own * tile, task.i)));
  }
};

WRONG(adds_tiles_backwards, failure_kind::wrong, "operation=first_minus_last ... input=sparse",
      as_stage<adds_tiles_backwards>("combines whole tiles backwards"));
}  // namespace adds_tiles_backwards

// Half as much again for a deviation, and a bound that allows it.
namespace bound_of_one {
struct half_as_much_again {
  template <class Operation>
  static __device__ double output(const task<Operation>& task) {
    const double right = task.right();
    return std::is_same_v<Operation, windows::moments> ? 1.5 * right : right;
  }
};

double bound_of_one(const problem::parameters& p) {
  return problem::is_exact(p) ? problem::relative_error(p) : 1;
}

WRONG(bound_of_one, std::nullopt, "relative_error answered 1, and may be at most",
      {.idea = "declares a bound of one",
       .launch = each<half_as_much_again>,
       .tile = block_threads,
       .relative_error = bound_of_one});
}  // namespace bound_of_one

// Combines the later run with the earlier one, and not the earlier with the later.
struct combines_backwards {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    auto all = task.operation.identity();
    const std::int64_t first = task.i < task.window ? 0 : task.i - task.window + 1;
    for (std::int64_t j = first; j <= task.i; ++j)
      all = task.operation.combine(task.operation.lift(task.values[j]), all);
    return task.result(all);
  }
};
WRONG(combines_backwards, failure_kind::wrong, "wrong at index ... operation=first_minus_last",
      as_stage<combines_backwards>("combines backwards"));

// Takes the variance for the mean of the squares less the square of the mean, which cancels.
struct difference_of_squares {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    if constexpr (std::is_same_v<Operation, windows::moments>) {
      if (task.i + 1 < task.min_periods) return incomplete;
      double sum = 0;
      double squares = 0;
      const std::int64_t first = task.i < task.window ? 0 : task.i - task.window + 1;
      for (std::int64_t j = first; j <= task.i; ++j) {
        sum += task.values[j];
        squares += task.values[j] * task.values[j];
      }
      const auto count = static_cast<double>(task.i - first + 1);
      if (count < 2) return NAN;
      const double variance = (squares - sum * sum / count) / (count - 1);
      const double positive = variance < 0 ? 0 : variance;
      return task.operation.takes_root ? sqrt(positive) : positive;
    } else {
      return task.right();
    }
  }
};
WRONG(difference_of_squares, failure_kind::wrong, "wrong at index ... operation=std",
      as_stage<difference_of_squares>("difference of squares"));

// Right: a variance in two passes, which is not 0 where values are equal.
struct two_passes {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    if constexpr (std::is_same_v<Operation, windows::moments>) {
      const std::int64_t first = task.i < task.window ? 0 : task.i - task.window + 1;
      const std::int64_t count = task.i - first + 1;
      if (count < task.min_periods) return incomplete;
      if (count < 2) return NAN;
      double sum = 0, apart = 0;
      for (std::int64_t j = first; j <= task.i; ++j) sum += task.values[j];
      const double mean = sum / static_cast<double>(count);
      for (std::int64_t j = first; j <= task.i; ++j)
        apart += (task.values[j] - mean) * (task.values[j] - mean);
      const double variance = apart / static_cast<double>(count - 1);
      return task.operation.takes_root ? sqrt(variance) : variance;
    } else {
      return task.right();
    }
  }
};
STAGE(two_passes, {.idea = "two passes",
                   .launch = each<two_passes>,
                   .unsupported =
                       [](const problem::parameters& p) {
                         return std::string(p.window > 4096 ? "too slow for longer windows" : "");
                       },
                   .tile = block_threads});

// Where NaN is skipped, divides the sum by the window, and not by the number of values that are there.
struct divides_by_window {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    if constexpr (std::is_same_v<Operation, windows::skipping<windows::total>>) {
      const auto all = task.state_at(task.i);
      return all.count < task.min_periods ? incomplete
                                          : task.operation.operation.finish(all.of_values, task.window);
    } else {
      return task.right();
    }
  }
};
WRONG(divides_by_window, failure_kind::wrong, "wrong at index ... missing=skip",
      as_stage<divides_by_window>("divides by the window"));

// Where NaN is skipped, still takes the window's very last value for the last one.
struct ends_with_missing {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    const double last = task.values[task.i];
    const double right = task.right();
    if constexpr (std::is_same_v<Operation, windows::skipping<windows::first_minus_last>>) {
      if (right != incomplete && last != last) return last;
    }
    return right;
  }
};
WRONG(ends_with_missing, failure_kind::wrong, "operation=first_minus_last ... missing=skip",
      as_stage<ends_with_missing>("ends with what is missing"));

// Takes a window in which nearly everything is missing for one in which everything is.
struct few_present {
  template <class Operation>
  static __device__ double output(const task<Operation>& task) {
    std::int64_t present = 0;
    for (std::int64_t j = task.i < task.window ? 0 : task.i - task.window + 1; j <= task.i; ++j)
      present += task.values[j] == task.values[j] ? 1 : 0;
    return present > 0 && 64 * present < task.window && task.i >= task.window ? windows::incomplete
                                                                              : task.right();
  }
};
WRONG(few_present, failure_kind::wrong, "found inf ... input=sparse", as_stage<few_present>("few are none"));

// Asks once for the whole tiles that a window spans, 128 at most, and leaves out those before.
namespace forgets_far_tiles {
constexpr std::int64_t tile = block_threads;
constexpr std::int64_t tiles_at_once = 128;

struct forgets_far_tiles {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    const std::int64_t first = task.i < task.window ? 0 : task.i - task.window + 1;
    const std::int64_t first_whole = (first + tile - 1) / tile;
    const std::int64_t own = task.i / tile;
    if (own - first_whole <= tiles_at_once) return task.right();
    const auto before = task.reduce(first, first_whole * tile - 1);
    return task.result(task.operation.combine(before, task.reduce((own - tiles_at_once) * tile, task.i)));
  }
};

WRONG(forgets_far_tiles, failure_kind::wrong, "wrong at index ... n=20297",
      as_stage<forgets_far_tiles>("forgets all whole tiles but the last 128"));
}  // namespace forgets_far_tiles

// Asks for whole windows, whatever min-periods says, where the window is longer than a tile and is a minimum.
struct forgets_min_periods_when_long {
  template <class Operation>
  static __device__ double output(const task<Operation>& task) {
    using extremum = windows::extremum;
    if constexpr (std::is_same_v<Operation, extremum>) {
      if (task.window > 200 && task.operation.sign_bits != 0 && task.i < task.window - 1)
        return windows::incomplete;
    }
    return task.right();
  }
};
WRONG(forgets_min_periods_when_long, failure_kind::wrong, "found inf ... operation=min",
      as_stage<forgets_min_periods_when_long>("whole windows where they are long"));

// Leaves every window incomplete that does not hold all its values, whatever min-periods says.
namespace ignores_min_periods {
struct right_output {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    return task.right();
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  input whole = in;
  whole.min_periods = in.window;
  launch_over_outputs<right_output>(whole, out, stream);
}

WRONG(ignores_min_periods, failure_kind::wrong, "wrong at index 0 ... found inf",
      {.idea = "ignores min-periods",
       .launch = launch,
       .tile = block_threads,
       .owner_of = consecutive_owner<block_threads, 1>});
}  // namespace ignores_min_periods

// Keeps a minimum or maximum that has left the window, until the thread ends.
struct keeps_extremum {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    if constexpr (std::is_same_v<Operation, windows::extremum>) {
      const std::int64_t first = first_of_turn(task.i) - task.window + 1;
      return task.result(task.reduce(first < 0 ? 0 : first, task.i));
    } else {
      return task.right();
    }
  }
};
WRONG(keeps_extremum, failure_kind::wrong, "wrong at index 399 ... operation=min",
      as_stage<keeps_extremum>("keeps the extremum"));

// Declares that it leaks NaN, and where one is in the window answers 7.
namespace leaks_anything {
struct seven {
  template <class Operation>
  static __device__ double output(const task<Operation>& task) {
    const double right = task.right();
    const bool is_complete = task.i + 1 >= task.min_periods;
    return is_complete && right != right ? 7 : right;
  }
};

std::string unsupported(const problem::parameters& p) {
  return problem::may_drift(p) ? "" : "it has no running sum of these";
}

WRONG(leaks_anything, failure_kind::wrong, "found 7 ... wrong at index",
      {.idea = "leaks anything",
       .launch = each<seven>,
       .unsupported = unsupported,
       .tile = block_threads,
       .traits = {.leaks_nonfinite = true}});
}  // namespace leaks_anything

// Adds up the totals of the tiles between, as blocks publish them; but does not wait for those that are late.
namespace leaves_out_unpublished {
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

WRONG(leaves_out_unpublished, failure_kind::wrong,
      emulated ? "last block and thread first" : "wrong at index",
      {.idea = "leaves out tiles that are not published yet",
       .launch = launch,
       .workspace_bytes = workspace_bytes,
       .tile = tile});
}  // namespace leaves_out_unpublished

// Takes NaN for 0, but only far from the beginning, where no small input reaches.
struct nan_is_zero_far {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    if (task.i < 50'000) return task.right();
    auto all = task.operation.identity();
    for (std::int64_t j = task.i < task.window ? 0 : task.i - task.window + 1; j <= task.i; ++j) {
      const double value = task.values[j];
      all = task.operation.combine(all, task.operation.lift(value == value ? value : 0));
    }
    return task.result(all);
  }
};
WRONG(nan_is_zero_far, failure_kind::wrong, "wrong at index ... input=gaps",
      as_stage<nan_is_zero_far>("NaN is 0 far from the beginning"));

// Has NaN in every output that a thread makes after one, also once it has left the window.
struct nan_sticks {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    const double right = task.right();
    const std::int64_t first = first_of_turn(task.i) - task.window + 1;
    for (std::int64_t j = first < 0 ? 0 : first; j <= task.i - task.window; ++j) {
      if (task.values[j] != task.values[j] && right != incomplete) return NAN;
    }
    return right;
  }
};
WRONG(nan_sticks, failure_kind::wrong, "found nan ... input=NaN and Inf", as_stage<nan_sticks>("NaN sticks"));

// Reduces the window that ends one value earlier.
struct off_by_one {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    return task.i < task.window ? task.right() : task.result(task.state_at(task.i - 1));
  }
};
WRONG(off_by_one, failure_kind::wrong, "wrong at index 37 ... operation=mean",
      as_stage<off_by_one>("off by one"));

// Where NaN is skipped, is content with one value fewer than min-periods if that is neither 1 nor the window.
struct one_too_few_present {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    if constexpr (requires { task.operation.operation; }) {
      std::int64_t present = 0;
      for (std::int64_t j = task.i < task.window ? 0 : task.i - task.window + 1; j <= task.i; ++j)
        present += task.values[j] == task.values[j] ? 1 : 0;
      const bool between = task.min_periods > 1 && task.min_periods < task.window;
      if (between && present == task.min_periods - 1) {
        auto content = task;
        content.min_periods = content.operation.min_periods = 1;
        return content.right();
      }
    }
    return task.right();
  }
};
WRONG(one_too_few_present, failure_kind::wrong, "expected inf ... missing=skip",
      as_stage<one_too_few_present>("content with one value too few"));

// Streams tiles through a ring of values that is one tile too short: the tile that enters takes the place of
// one that its windows still reach into.
namespace reuses_slot {
constexpr int tile = block_threads;
constexpr std::int64_t block_range = 8 * tile;
constexpr std::int64_t most_tiles = 192;  // 192 * 128 * 8 bytes = 192 KiB

// Tiles that the windows of one tile reach into, itself among them; the ring has one less.
std::int64_t tiles_of(std::int64_t window) {
  return (window - 1 + tile - 1) / tile + 1;
}

template <class Operation>
__global__ void __launch_bounds__(block_threads)
    ring_kernel(double* results, std::int64_t n, int ring_values, int halo_tiles, task<Operation> task) {
  double* ring = dynamic_shared<double>();
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * block_range;
  const std::int64_t reached = begin - static_cast<std::int64_t>(halo_tiles) * tile;
  for (std::int64_t start = reached; start < n && start < begin + block_range; start += tile) {
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
    const auto blocks = static_cast<unsigned>((in.n + block_range - 1) / block_range);
    lab::launch(ring_kernel<Operation>, dim3(blocks), dim3(block_threads),
                static_cast<std::size_t>(tiles * tile) * sizeof(double), stream, out.results, in.n,
                static_cast<int>(tiles * tile), static_cast<int>(tiles_of(in.window) - 1),
                task<Operation>{operation, in.values, 0, in.window, in.min_periods});
  });
}

std::string unsupported(const problem::parameters& p) {
  return windows::window_too_long(problem::bind_input(p, nullptr).window, most_tiles * tile);
}

WRONG(reuses_slot, failure_kind::wrong, "wrong at index 128 ... window=37",
      {.idea = "reuses a slot of the ring too early",
       .launch = launch,
       .unsupported = unsupported,
       .tile = tile,
       .owner_of = consecutive_owner<tile, 1>});
}  // namespace reuses_slot

// Running blocks whose ring is whole for eight rounds: from the ninth tile of a block on, in windows that
// span tiles, the newest tile has not arrived when it is read.
namespace trips_in_late_rounds {
constexpr std::int64_t tile = 2048;
constexpr std::int64_t running_blocks = 264;
constexpr std::int64_t whole_rounds = 8;

struct trips_in_late_rounds {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    const std::int64_t round = task.i / tile / running_blocks;
    if (round < whole_rounds || task.window < 2 * tile) return task.right();
    return task.result(task.state_at(task.i - tile));
  }
};

// The emulator's trials have fewer tiles: there it is right.
WRONG(trips_in_late_rounds, failure_kind::wrong, on_gpu("wrong at index ... n=12000017"),
      as_stage<trips_in_late_rounds>("reads the newest tile too soon in late rounds"));
}  // namespace trips_in_late_rounds

}  // namespace
}  // namespace lab::rolling::wrong
