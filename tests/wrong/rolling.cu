// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "common/windows/suffix_prefix.hpp"
#include "stages/rolling/operations.hpp"

// Window functions as they should be, one thread for each output, from which each wrong kernel departs in one
// way.
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

// Combines the whole tiles that a window spans from the last to the first; what lies on either side, in
// order.
namespace lab::rolling::wrong::adds_tiles_backwards {
namespace {

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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<adds_tiles_backwards>(in, out, stream);
}

const registration<problem> registered{"rolling/adds_tiles_backwards",
                                       {.idea = "combines whole tiles backwards",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong::adds_tiles_backwards

// Half as much again for a deviation, and a bound that allows it.
namespace lab::rolling::wrong::bound_of_one {
namespace {

struct half_as_much_again {
  template <class Operation>
  static __device__ double output(const task<Operation>& task) {
    const double right = task.right();
    return std::is_same_v<Operation, windows::moments> ? 1.5 * right : right;
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<half_as_much_again>(in, out, stream);
}

double bound_of_one(const problem::parameters& p) {
  return problem::is_exact(p) ? problem::relative_error(p) : 1;
}

const registration<problem> registered{"rolling/bound_of_one",
                                       {.idea = "declares a bound of one",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .relative_error = bound_of_one}};

}  // namespace
}  // namespace lab::rolling::wrong::bound_of_one

// Combines the later run with the earlier one, and not the earlier with the later.
namespace lab::rolling::wrong::combines_backwards {
namespace {

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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<combines_backwards>(in, out, stream);
}

const registration<problem> registered{"rolling/combines_backwards",
                                       {.idea = "combines backwards",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong::combines_backwards

// Takes the variance for the mean of the squares less the square of the mean, which cancels.
namespace lab::rolling::wrong::difference_of_squares {
namespace {

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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<difference_of_squares>(in, out, stream);
}

const registration<problem> registered{"rolling/difference_of_squares",
                                       {.idea = "difference of squares",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong::difference_of_squares

// Where NaN is skipped, divides the sum by the window, and not by the number of values that are there.
namespace lab::rolling::wrong::divides_by_window {
namespace {

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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<divides_by_window>(in, out, stream);
}

const registration<problem> registered{"rolling/divides_by_window",
                                       {.idea = "divides by the window",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong::divides_by_window

// Where NaN is skipped, still takes the window's very last value for the last one.
namespace lab::rolling::wrong::ends_with_missing {
namespace {

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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<ends_with_missing>(in, out, stream);
}

const registration<problem> registered{"rolling/ends_with_missing",
                                       {.idea = "ends with what is missing",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong::ends_with_missing

// Takes a window in which nearly everything is missing for one in which everything is.
namespace lab::rolling::wrong::few_present {
namespace {

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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<few_present>(in, out, stream);
}

const registration<problem> registered{"rolling/few_present",
                                       {.idea = "few are none", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::rolling::wrong::few_present

// Asks once for the whole tiles that a window spans, 128 at most, and leaves out those before.
namespace lab::rolling::wrong::forgets_far_tiles {
namespace {

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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<forgets_far_tiles>(in, out, stream);
}

const registration<problem> registered{"rolling/forgets_far_tiles",
                                       {.idea = "forgets all whole tiles but the last 128",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong::forgets_far_tiles

// Asks for whole windows, whatever min-periods says, where the window is longer than a tile and is a minimum.
namespace lab::rolling::wrong::forgets_min_periods_when_long {
namespace {

struct whole_when_long {
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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<whole_when_long>(in, out, stream);
}

const registration<problem> registered{
    "rolling/forgets_min_periods_when_long",
    {.idea = "whole windows where they are long", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::rolling::wrong::forgets_min_periods_when_long

// Leaves every window incomplete that does not hold all its values, whatever min-periods says.
namespace lab::rolling::wrong::ignores_min_periods {
namespace {

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

const registration<problem> registered{"rolling/ignores_min_periods",
                                       {.idea = "ignores min-periods",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong::ignores_min_periods

// Keeps a minimum or maximum that has left the window, until the thread ends.
namespace lab::rolling::wrong::keeps_extremum {
namespace {

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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<keeps_extremum>(in, out, stream);
}

const registration<problem> registered{"rolling/keeps_extremum",
                                       {.idea = "keeps the extremum",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong::keeps_extremum

// Declares that it leaks NaN, and where one is in the window answers 7.
namespace lab::rolling::wrong::leaks_anything {
namespace {

struct seven {
  template <class Operation>
  static __device__ double output(const task<Operation>& task) {
    const double right = task.right();
    const bool is_complete = task.i + 1 >= task.min_periods;
    return is_complete && right != right ? 7 : right;
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<seven>(in, out, stream);
}

std::string unsupported(const problem::parameters& p) {
  return problem::may_drift(p) ? "" : "it has no running sum of these";
}

const registration<problem> registered{"rolling/leaks_anything",
                                       {.idea = "leaks anything",
                                        .launch = launch,
                                        .unsupported = unsupported,
                                        .tile = block_threads,
                                        .traits = {.leaks_nonfinite = true}}};

}  // namespace
}  // namespace lab::rolling::wrong::leaks_anything

// Adds up the totals of the tiles between, as blocks publish them; but does not wait for those that are late.
namespace lab::rolling::wrong::leaves_out_unpublished {
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

const registration<problem> registered{"rolling/leaves_out_unpublished",
                                       {.idea = "leaves out tiles that are not published yet",
                                        .launch = launch,
                                        .workspace_bytes = workspace_bytes,
                                        .tile = tile}};

}  // namespace
}  // namespace lab::rolling::wrong::leaves_out_unpublished

// Takes NaN for 0, but only far from the beginning, where no small input reaches.
namespace lab::rolling::wrong::nan_is_zero_far {
namespace {

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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<nan_is_zero_far>(in, out, stream);
}

const registration<problem> registered{"rolling/nan_is_zero_far",
                                       {.idea = "NaN is 0 far from the beginning",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong::nan_is_zero_far

// Has NaN in every output that a thread makes after one, also once it has left the window.
namespace lab::rolling::wrong::nan_sticks {
namespace {

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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<nan_sticks>(in, out, stream);
}

const registration<problem> registered{"rolling/nan_sticks",
                                       {.idea = "NaN sticks",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong::nan_sticks

// Reduces the window that ends one value earlier.
namespace lab::rolling::wrong::off_by_one {
namespace {

struct off_by_one {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    return task.i < task.window ? task.right() : task.result(task.state_at(task.i - 1));
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<off_by_one>(in, out, stream);
}

const registration<problem> registered{"rolling/off_by_one",
                                       {.idea = "off by one",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong::off_by_one

// Where NaN is skipped, is content with one value fewer than min-periods if that is neither 1 nor the window.
namespace lab::rolling::wrong::one_too_few_present {
namespace {

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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<one_too_few_present>(in, out, stream);
}

const registration<problem> registered{"rolling/one_too_few_present",
                                       {.idea = "content with one value too few",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong::one_too_few_present

// Streams tiles through a ring of values that is one tile too short: the tile that enters takes the place of
// one that its windows still reach into.
namespace lab::rolling::wrong::reuses_slot {
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

const registration<problem> registered{"rolling/reuses_slot",
                                       {.idea = "reuses a slot of the ring too early",
                                        .launch = launch,
                                        .unsupported = unsupported,
                                        .tile = tile,
                                        .owner_of = consecutive_owner<tile, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong::reuses_slot

// Running blocks whose ring is whole for eight rounds: from the ninth tile of a block on, in windows that
// span tiles, the newest tile has not arrived when it is read.
namespace lab::rolling::wrong::trips_in_late_rounds {
namespace {

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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<trips_in_late_rounds>(in, out, stream);
}

// The emulator's trials have fewer tiles: there it is right.
const registration<problem> registered{"rolling/trips_in_late_rounds",
                                       {.idea = "reads the newest tile too soon in late rounds",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong::trips_in_late_rounds
