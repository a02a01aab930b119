// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include <cfenv>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "stages/moving_average/problem.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::moving_average::wrong {
namespace {

// The moving average as it should be, from which each wrong kernel departs in one way.

constexpr int block_threads = 128;

__device__ std::int64_t output_index() {
  return static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
}

__device__ double average(const double* values, std::int64_t i, std::int64_t window) {
  if (i < window - 1) return incomplete;
  double sum = 0;
  for (std::int64_t j = i - window + 1; j <= i; ++j) sum += values[j];
  return sum / static_cast<double>(window);
}

using kernel = void (*)(const double*, double*, std::int64_t, std::int64_t);

// One thread for each output, in whole blocks.
void launch_over_outputs(kernel code, const input& in, const output& out, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(code, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.averages, in.n, in.window);
}

template <kernel code>
void each(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(code, in, out, stream);
}

stage<problem> as_stage(const char* idea, launch_of<problem>::type launch, const traits& its_traits = {}) {
  return {.idea = idea,
          .launch = launch,
          .tile = block_threads,
          .owner_of = consecutive_owner<block_threads, 1>,
          .traits = its_traits};
}

__global__ void right(const double* values, double* averages, std::int64_t n, std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

// Right in another form: each value is divided before it is added, and may lose a bit among the denormals.
__global__ void adds_shares(const double* values, double* averages, std::int64_t n, std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  if (i < window - 1) {
    averages[i] = incomplete;
    return;
  }
  double sum = 0;
  for (std::int64_t j = i - window + 1; j <= i; ++j) sum += values[j] / static_cast<double>(window);
  averages[i] = sum;
}
STAGE(adds_shares, as_stage("adds shares", each<adds_shares>));

// Right, with a running sum of two doubles: spikes of 1e16 leave nothing in it, but values that are larger
// still do.
struct two_doubles {
  double high, low;
};
__device__ two_doubles plus(two_doubles sum, double x) {
  const double high = sum.high + x;
  const double of_x = high - sum.high;
  const double low = sum.low + ((sum.high - (high - of_x)) + (x - of_x));
  return {high + low, low - ((high + low) - high)};
}
constexpr int slid_outputs = 16;
__global__ void compensated(const double* values, double* averages, std::int64_t n, std::int64_t window) {
  const std::int64_t first = output_index() * slid_outputs;
  two_doubles sum{0, 0};
  std::int64_t special = 0;  // in the window: NaN, Inf, and what is near the largest number
  const auto enter = [&](double x) {
    if (fabs(x) < 1e290) {
      sum = plus(sum, x);
    } else {
      ++special;
    }
  };
  const auto leave = [&](double x) {
    if (fabs(x) < 1e290) {
      sum = plus(sum, -x);
    } else {
      --special;
    }
  };
  bool slides = false;
  for (std::int64_t i = first; i < min(first + slid_outputs, n); ++i) {
    if (i >= window - 1 && slides) {
      enter(values[i]);
      leave(values[i - window]);
    } else if (i >= window - 1) {
      for (std::int64_t j = i - window + 1; j <= i; ++j) enter(values[j]);
      slides = true;
    }
    averages[i] =
        slides && special == 0 ? sum.high / static_cast<double>(window) : average(values, i, window);
  }
}
void launch_compensated(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(compensated, dim3(static_cast<unsigned>(parts(in.n, block_threads * slid_outputs))),
              dim3(block_threads), 0, stream, in.values, out.averages, in.n, in.window);
}
STAGE(compensated_sum, {.idea = "a running sum of two doubles",
                        .launch = launch_compensated,
                        .tile = block_threads * slid_outputs,
                        .traits = {.drifts = true}});

// Writes NaN everywhere: accepted by a comparison that asks whether the error is too large.
__global__ void all_nan(const double* values, double* averages, std::int64_t n, std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = values[i] * (window > 0 ? nan("") : 0);
}
WRONG(all_nan, failure_kind::wrong, "found nan", as_stage("all nan", each<all_nan>));

// Allocates in its launch, and gives back.
void allocates(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  double* unused = nullptr;
  CUDA_CHECK(cudaMallocAsync(&unused, 1024, stream));
  launch_over_outputs(right, in, out, stream);
  CUDA_CHECK(cudaFreeAsync(unused, stream));
}
WRONG(allocates, failure_kind::launch, on_emulator("cudaMallocAsync"), as_stage("allocates", allocates));

// Uses an input value as scratch memory.
__global__ void changes_input(const double* values, double* averages, std::int64_t n, std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  averages[i] = average(values, i, window);
  if (i == n / 2) const_cast<double*>(values)[i] = 0;
}
WRONG(changes_input, failure_kind::input_changed, "changed its input",
      as_stage("changes input", each<changes_input>));

// Copies its first value to the host and back.
void copies_to_host(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(right, in, out, stream);
  if (in.n == 0) return;
  double first = 0;
  CUDA_CHECK(cudaMemcpyAsync(&first, out.averages, sizeof first, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaMemcpyAsync(out.averages, &first, sizeof first, cudaMemcpyHostToDevice, stream));
}
WRONG(copies_to_host, failure_kind::launch, on_emulator("host"), as_stage("copies to host", copies_to_host));

// Writes through a null pointer.
__global__ void crashes(const double* values, double* averages, std::int64_t n, std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
  if (i == 0) *static_cast<double volatile*>(nullptr) = window > 0 ? 1 : averages[0];
}
STAGE(crashes, as_stage("crashes", each<crashes>));

// Enqueues its work on the default stream: the harness's events, around another one, would time nothing.
void default_stream(const input& in, const output& out, workspace /*scratch*/, cudaStream_t /*stream*/) {
  launch_over_outputs(right, in, out, nullptr);
}
WRONG(default_stream, failure_kind::launch, on_emulator("default stream"),
      as_stage("default stream", default_stream));

// An expected failure that is wrong, but in another way than it says: its window is one value short.
namespace fails_otherwise {
__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window > 1 ? window - 1 : window);
}

constexpr failure_pattern expected[] = {{failure_kind::unwritten}, {failure_kind::wrong, "found inf"}};

STAGE(fails_otherwise,
      as_stage("fails otherwise", each<moving_average_kernel>, {.expected_failure = {.failures = expected}}));
}  // namespace fails_otherwise

// Declares that it drifts, and does not: a page that says so would be wrong.
WRONG(false_drift, failure_kind::wrong, "a stage that declares drifts",
      as_stage("false drift", each<right>, {.drifts = true}));

// Declares that it leaks NaN and Inf, and does not.
WRONG(false_leak, failure_kind::wrong, "a stage that declares leaks_nonfinite",
      as_stage("false leak", each<right>, {.leaks_nonfinite = true}));

// Adds up in single precision.
__global__ void float_sum(const double* values, double* averages, std::int64_t n, std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  if (i < window - 1) {
    averages[i] = incomplete;
    return;
  }
  float sum = 0;
  for (std::int64_t j = i - window + 1; j <= i; ++j) sum += static_cast<float>(values[j]);
  averages[i] = sum / static_cast<double>(window);
}
WRONG(float_sum, failure_kind::wrong, "wrong at index", as_stage("float sum", each<float_sum>));

// Waits for a value that nobody writes.
__global__ void hangs(const double* values, double* averages, std::int64_t n, std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  while (*static_cast<const double volatile*>(values) != 2) {
  }
  averages[i] = average(values, i, window);
}
STAGE(hangs, as_stage("hangs", each<hangs>));

// Computes the averages in a loop of the host.
void host_loop(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(right, in, out, stream);
  for (std::int64_t i = 0; i < in.n; ++i) out.averages[i] = i < in.window - 1 ? incomplete : out.averages[i];
}
WRONG(host_loop, failure_kind::launch, on_emulator("host"), as_stage("host loop", host_loop));

// Right, and keeps memory of the device (which is reported).
void keeps_device_memory(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static double* kept = nullptr;
  if (kept == nullptr) CUDA_CHECK(cudaMalloc(&kept, 100'000'000));
  launch_over_outputs(right, in, out, stream);
}
STAGE(keeps_device_memory, as_stage("keeps device memory", keeps_device_memory));

// Asks for more threads than a block can have.
void launch_refused(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(right, dim3(1), dim3(4096), 0, stream, in.values, out.averages, in.n, in.window);
}
WRONG(launch_refused, failure_kind::launch, "cudaError", as_stage("launch refused", launch_refused));

// Leaves a thread of the host behind.
void leaves_a_thread(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(right, in, out, stream);
  std::thread([] { std::this_thread::sleep_for(std::chrono::seconds(2)); }).detach();
}
WRONG(leaves_a_thread, failure_kind::launch, on_emulator("thread"),
      as_stage("leaves a thread", leaves_a_thread));

// Rounds the grid down: the outputs of the last, partial block are never written.
void leaves_tail(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(in.n / block_threads);
  lab::launch(right, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.averages, in.n, in.window);
}
WRONG(leaves_tail, failure_kind::unwritten, "was never written", as_stage("leaves tail", leaves_tail));

// Leaves the first value of one window out, where there are many.
namespace misses_one_at_size {
__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  averages[i] = average(values, i, window);
  if (n >= 500'000 && i == n / 3 + 1) averages[i] -= values[i - window + 1] / static_cast<double>(window);
}

double no_bound(const problem::parameters& /*p*/) {
  return 1;
}

WRONG(misses_one_at_size, failure_kind::wrong, "input=integers",
      {.idea = "misses one at size",
       .launch = each<moving_average_kernel>,
       .tile = block_threads,
       .owner_of = consecutive_owner<block_threads, 1>,
       .relative_error = no_bound});
}  // namespace misses_one_at_size

// Averages the window that ends one value earlier.
__global__ void off_by_one(const double* values, double* averages, std::int64_t n, std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  averages[i] = i < window ? average(values, i, window) : average(values, i - 1, window);
}
WRONG(off_by_one, failure_kind::wrong, "wrong at index 37", as_stage("off by one", each<off_by_one>));

// Enqueues its work on a stream of its own.
void own_stream(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static cudaStream_t mine = nullptr;
  if (mine == nullptr) CUDA_CHECK(cudaStreamCreate(&mine));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  launch_over_outputs(right, in, out, mine);
  CUDA_CHECK(cudaStreamSynchronize(mine));
}
WRONG(own_stream, failure_kind::launch, on_emulator("stream"), as_stage("own stream", own_stream));

// A barrier that the threads of the last, partial block do not all reach.
__global__ void partial_barrier(const double* values, double* averages, std::int64_t n, std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  __syncthreads();
  averages[i] = average(values, i, window);
}
STAGE(partial_barrier, as_stage("partial barrier", each<partial_barrier>));

// An expected failure that is right: nothing is left to be shown.
namespace passes_after_all {
constexpr failure_pattern expected[] = {{failure_kind::wrong}};

STAGE(passes_after_all,
      as_stage("passes after all", each<right>, {.expected_failure = {.failures = expected}}));
}  // namespace passes_after_all

// Reads a tile in front of its input, and makes nothing of it.
__global__ void reads_a_tile_beyond(const double* values, double* averages, std::int64_t n,
                                    std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  const double stray = values[i - 1024];
  averages[i] = stray == 12345.678 ? 0 : average(values, i, window);
}
WRONG(reads_a_tile_beyond, failure_kind::out_of_bounds, on_emulator("reads at offset"),
      as_stage("reads a tile beyond", each<reads_a_tile_beyond>));

// Computes the first time it is asked, and returns that answer ever after.
void returns_previous(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  // The first answer of each size is kept.
  static std::map<std::pair<std::int64_t, std::int64_t>, double*> kept;
  double*& answer = kept[{in.n, in.window}];
  const auto bytes = static_cast<std::size_t>(in.n) * sizeof(double);
  if (answer == nullptr) {
    launch_over_outputs(right, in, out, stream);
    CUDA_CHECK(cudaMalloc(&answer, bytes));
    CUDA_CHECK(cudaMemcpyAsync(answer, out.averages, bytes, cudaMemcpyDeviceToDevice, stream));
  }
  CUDA_CHECK(cudaMemcpyAsync(out.averages, answer, bytes, cudaMemcpyDeviceToDevice, stream));
}
WRONG(returns_previous, emulated ? failure_kind::launch : failure_kind::wrong,
      emulated ? "a launch must only enqueue work on its stream" : "wrong at index",
      as_stage("returns previous", returns_previous));

// Right in the launches that are verified, before and after the timing: those between write zeros, or one of
// them does.
__global__ void right_when_watched(const double* values, double* averages, std::int64_t n,
                                   std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = window > 0 ? average(values, i, window) : 0;
}

void launch_right_when_watched(const input& in, const output& out, workspace /*scratch*/,
                               cudaStream_t stream) {
  static std::map<std::int64_t, int> launches;
  launch_over_outputs(right_when_watched, in, out, stream);
  const int launch = launches[in.n]++;
  // Those before are samples, and the one on exact input that comes before them.
  // Of one that is graded all checks of the measured size come before the samples.
  const int samples_begin = in.n == 31'000 ? 15 : 4;
  const bool is_one_of_many =
      (in.n == 30'000 || in.n == 31'000) && launch >= samples_begin && launch < samples_begin + 6;
  const bool is_one_alone = in.n == 900'000 && launch == 2;
  if (is_one_of_many || is_one_alone)
    CUDA_CHECK(cudaMemsetAsync(out.averages, 0, static_cast<std::size_t>(in.n) * sizeof(double), stream));
}
STAGE(right_when_watched, as_stage("right when watched", launch_right_when_watched));

// Leaves the host rounding upward.
void rounds_upward(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(right, in, out, stream);
  std::fesetround(FE_UPWARD);
}
WRONG(rounds_upward, failure_kind::launch, on_emulator("rounding"), as_stage("rounds upward", rounds_upward));

// Leaves a value out of windows of exactly two tiles, as a ring that has one slot too few for them does.
namespace two_tiles_exactly {
constexpr std::int64_t tile = 1024;

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  averages[i] = average(values, i, window);
  if (window == 2 * tile && i >= 3 * tile)
    averages[i] -= values[i - window + 1] / static_cast<double>(window);
}

WRONG(two_tiles_exactly, failure_kind::wrong, "window=2048",
      {.idea = "two tiles exactly", .launch = each<moving_average_kernel>, .tile = tile});
}  // namespace two_tiles_exactly

// Running sums of differences along a thread's outputs, without the trait that says so.
__global__ void undeclared_drift(const double* values, double* averages, std::int64_t n,
                                 std::int64_t window) {
  const std::int64_t i = output_index();
  constexpr int thread_outputs = 32;
  double sum = 0;
  for (std::int64_t k = i * thread_outputs; k < n && k < (i + 1) * thread_outputs; ++k) {
    if (k < window - 1) {
      averages[k] = incomplete;
      continue;
    }
    const bool first = k == i * thread_outputs || k == window - 1;
    sum = first ? average(values, k, window) * static_cast<double>(window)
                : sum + values[k] - values[k - window];
    averages[k] = sum / static_cast<double>(window);
  }
}
WRONG(undeclared_drift, failure_kind::wrong, "spikes of 1e16",
      as_stage("undeclared drift", each<undeclared_drift>));

// The last bit changes from launch to launch, without the trait that says so.
__global__ void unsteady(const double* values, double* averages, std::int64_t n, int shift,
                         std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window) * (1 + 0x1p-52 * shift);
}

void launch_unsteady(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static int launches = 0;
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(unsteady, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.averages, in.n,
              launches++ % 2, in.window);
}
WRONG(unsteady, failure_kind::wrong, "the same bits as the run before",
      as_stage("unsteady", launch_unsteady));

// Keeps 16 bits of the window.
namespace window_in_16_bits {
constexpr std::int64_t tile = block_threads;

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  averages[i] = i < window - 1 ? incomplete : average(values, i, (window - 1) % 65'536 + 1);
}

WRONG(window_in_16_bits, failure_kind::wrong, "window=65539",
      {.idea = "a window of 16 bits", .launch = each<moving_average_kernel>, .tile = tile});
}  // namespace window_in_16_bits

// One window for a block, and running sums of differences whose totals the threads pass on: in shared memory,
// or by shuffles of a warp. Each departs from it in one way.
enum class mistake { window_of_the_tile, no_barrier, no_warp_before, first_lane_kept };

constexpr int per_thread = 3;
constexpr int tile_outputs = block_threads * per_thread;

template <mistake which>
__global__ void block_window_kernel(const double* values, double* averages, std::int64_t n,
                                    std::int64_t window) {
  constexpr bool by_warps = which == mistake::no_warp_before || which == mistake::first_lane_kept;
  __shared__ double parts[block_threads];
  __shared__ double totals[block_threads];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_outputs;
  const auto value = [&](std::int64_t i) { return i >= 0 && i < n ? values[i] : 0.0; };
  const std::int64_t window_end = first + (which == mistake::window_of_the_tile ? 1 : 0);
  double part = 0;
  for (std::int64_t k = thread; k < window; k += block_threads) part += value(window_end - 1 - k);
  parts[thread] = part;
  double sum[per_thread];
  double total = 0;
  for (int v = 0; v < per_thread; ++v) {
    const std::int64_t i = first + thread * per_thread + v;
    total += value(i) - value(i - window);
    sum[v] = total;
  }
  double before = 0;
  if constexpr (by_warps) {
    double up = total;
    for (int distance = 1; distance < 32; distance *= 2) {
      const double lower = __shfl_up_sync(~0U, up, distance);
      if (lane >= distance) up += lower;
    }
    before = __shfl_up_sync(~0U, up, 1);
    if (lane == 0 && which != mistake::first_lane_kept) before = 0;
    totals[thread] = lane == 31 ? up : 0;
  } else {
    totals[thread] = total;
  }
  if (which != mistake::no_barrier) __syncthreads();
  const int of_others = by_warps ? thread - lane : thread;
  for (int other = 0; other < block_threads; ++other) {
    before += parts[other];
    if (other < of_others && which != mistake::no_warp_before) before += totals[other];
  }
  for (int v = 0; v < per_thread; ++v) {
    const std::int64_t i = first + thread * per_thread + v;
    if (i < n) averages[i] = i < window - 1 ? incomplete : (before + sum[v]) / static_cast<double>(window);
  }
}

template <mistake which>
void launch_block_window(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + tile_outputs - 1) / tile_outputs);
  lab::launch(block_window_kernel<which>, dim3(blocks), dim3(block_threads), 0, stream, in.values,
              out.averages, in.n, in.window);
}

template <mistake which>
stage<problem> wrong_stage(const char* idea) {
  return {.idea = idea,
          .launch = launch_block_window<which>,
          .tile = tile_outputs,
          .owner_of = consecutive_owner<tile_outputs, per_thread>,
          .traits = {.drifts = true, .leaks_nonfinite = true}};
}

// Of moving_average/04a_block_window: the window ends with the tile's first value, not with the one before
// it.
MISTAKE(window_of_the_tile, failure_kind::wrong, "wrong at index", "a window that ends one value late");

// Of the same: totals are read before the threads have written them. What lay there decides how it shows.
MISTAKE(no_barrier, std::nullopt, "(n=", "no barrier before the totals are read");

// Of moving_average/04b_warp_scan: the totals of the warps before are left out.
MISTAKE(no_warp_before, failure_kind::wrong, "wrong at index", "a scan that ends with the warp");

// Of the same: lane 0 has no lane below it, and a shuffle gives it its own value.
MISTAKE(first_lane_kept, failure_kind::wrong, "wrong at index", "lane 0 takes its own total for one before");

// Writes one value in front of the output.
__global__ void writes_before(const double* values, double* averages, std::int64_t n, std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
  if (i == 0) averages[-1] = 0;
}
WRONG(writes_before, failure_kind::out_of_bounds, "index -1", as_stage("writes before", each<writes_before>));

// Writes one output too many: `<=` where `<` belongs.
__global__ void writes_beyond(const double* values, double* averages, std::int64_t n, std::int64_t window) {
  const std::int64_t i = output_index();
  if (i <= n) averages[i] = i < n ? average(values, i, window) : 0;
}

void launch_writes_beyond(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(in.n / block_threads + 1);
  lab::launch(writes_beyond, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.averages, in.n,
              in.window);
}
WRONG(writes_beyond, failure_kind::out_of_bounds, "a write to the output",
      as_stage("writes beyond", launch_writes_beyond));

// Right but for one output.
__global__ void wrong_at_one_index(const double* values, double* averages, std::int64_t n,
                                   std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window) * (i == 12345 ? 1 + 1e-9 : 1);
}
WRONG(wrong_at_one_index, failure_kind::wrong, "wrong at index 12345: expected ",
      as_stage("wrong at one index", each<wrong_at_one_index>));

}  // namespace
}  // namespace lab::moving_average::wrong
