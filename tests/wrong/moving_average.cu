// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include <cfenv>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "stages/moving_average/problem.hpp"

// The moving average as it should be, from which each wrong kernel departs in one way.
namespace lab::moving_average::wrong {

inline constexpr int block_threads = 128;

__device__ inline std::int64_t output_index() {
  return static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
}

__device__ inline double average(const double* values, std::int64_t i, std::int64_t window) {
  if (i < window - 1) return incomplete;
  double sum = 0;
  for (std::int64_t j = i - window + 1; j <= i; ++j) sum += values[j];
  return sum / static_cast<double>(window);
}

using kernel = void (*)(const double*, double*, std::int64_t, std::int64_t);

// One thread for each output, in whole blocks.
inline void launch_over_outputs(kernel code, const input& in, const output& out, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(code, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.averages, in.n, in.window);
}

}  // namespace lab::moving_average::wrong

// Writes NaN everywhere: accepted by a comparison that asks whether the error is too large.
namespace lab::moving_average::wrong::all_nan {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = values[i] * (window > 0 ? nan("") : 0);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/all_nan",
                                       {.idea = "all nan",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::all_nan

// Allocates in its launch, and gives back.
namespace lab::moving_average::wrong::allocates {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  double* unused = nullptr;
  CUDA_CHECK(cudaMallocAsync(&unused, 1024, stream));
  launch_over_outputs(moving_average_kernel, in, out, stream);
  CUDA_CHECK(cudaFreeAsync(unused, stream));
}

const registration<problem> registered{"moving_average/allocates",
                                       {.idea = "allocates",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::allocates

// Uses an input value as scratch memory.
namespace lab::moving_average::wrong::changes_input {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  averages[i] = average(values, i, window);
  if (i == n / 2) const_cast<double*>(values)[i] = 0;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/changes_input",
                                       {.idea = "changes input",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::changes_input

// Copies its first value to the host and back.
namespace lab::moving_average::wrong::copies_to_host {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
  if (in.n == 0) return;
  double first = 0;
  CUDA_CHECK(cudaMemcpyAsync(&first, out.averages, sizeof first, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaMemcpyAsync(out.averages, &first, sizeof first, cudaMemcpyHostToDevice, stream));
}

const registration<problem> registered{"moving_average/copies_to_host",
                                       {.idea = "copies to host",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::copies_to_host

// Writes through a null pointer.
namespace lab::moving_average::wrong::crashes {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
  if (i == 0) *static_cast<double volatile*>(nullptr) = window > 0 ? 1 : averages[0];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/crashes",
                                       {.idea = "crashes",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::crashes

// Enqueues its work on the default stream: the harness's events, around another one, would time nothing.
namespace lab::moving_average::wrong::default_stream {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t /*stream*/) {
  launch_over_outputs(moving_average_kernel, in, out, nullptr);
}

const registration<problem> registered{"moving_average/default_stream",
                                       {.idea = "default stream",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::default_stream

// An expected failure that is wrong, but in another way than it says: its window is one value short.
namespace lab::moving_average::wrong::fails_otherwise {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window > 1 ? window - 1 : window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

constexpr failure_pattern expected[] = {{failure_kind::unwritten}, {failure_kind::wrong, "found inf"}};

const registration<problem> registered{"moving_average/fails_otherwise",
                                       {.idea = "fails otherwise",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>,
                                        .traits = {.expected_failure = {.failures = expected}}}};

}  // namespace
}  // namespace lab::moving_average::wrong::fails_otherwise

// Declares that it drifts, and does not: a page that says so would be wrong.
namespace lab::moving_average::wrong::false_drift {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/false_drift",
                                       {.idea = "false drift",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>,
                                        .traits = {.drifts = true}}};

}  // namespace
}  // namespace lab::moving_average::wrong::false_drift

// Declares that it leaks NaN and Inf, and does not.
namespace lab::moving_average::wrong::false_leak {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/false_leak",
                                       {.idea = "false leak",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>,
                                        .traits = {.leaks_nonfinite = true}}};

}  // namespace
}  // namespace lab::moving_average::wrong::false_leak

// Adds up in single precision.
namespace lab::moving_average::wrong::float_sum {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/float_sum",
                                       {.idea = "float sum",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::float_sum

// Waits for a value that nobody writes.
namespace lab::moving_average::wrong::hangs {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  while (*static_cast<const double volatile*>(values) != 2) {
  }
  averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/hangs",
                                       {.idea = "hangs",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::hangs

// Computes the averages in a loop of the host.
namespace lab::moving_average::wrong::host_loop {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
  for (std::int64_t i = 0; i < in.n; ++i) out.averages[i] = i < in.window - 1 ? incomplete : out.averages[i];
}

const registration<problem> registered{"moving_average/host_loop",
                                       {.idea = "host loop",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::host_loop

// Right, and keeps memory of the device (which is reported).
namespace lab::moving_average::wrong::keeps_device_memory {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static double* kept = nullptr;
  if (kept == nullptr) CUDA_CHECK(cudaMalloc(&kept, 100'000'000));
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/keeps_device_memory",
                                       {.idea = "keeps device memory",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::keeps_device_memory

// Asks for more threads than a block can have.
namespace lab::moving_average::wrong::launch_refused {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(moving_average_kernel, dim3(1), dim3(4096), 0, stream, in.values, out.averages, in.n,
              in.window);
}

const registration<problem> registered{"moving_average/launch_refused",
                                       {.idea = "launch refused",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::launch_refused

// Leaves a thread of the host behind.
namespace lab::moving_average::wrong::leaves_a_thread {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
  std::thread([] { std::this_thread::sleep_for(std::chrono::seconds(2)); }).detach();
}

const registration<problem> registered{"moving_average/leaves_a_thread",
                                       {.idea = "leaves a thread",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::leaves_a_thread

// Rounds the grid down: the outputs of the last, partial block are never written.
namespace lab::moving_average::wrong::leaves_tail {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(in.n / block_threads);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.averages,
              in.n, in.window);
}

const registration<problem> registered{"moving_average/leaves_tail",
                                       {.idea = "leaves tail",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::leaves_tail

// Leaves the first value of one window out, where there are many.
namespace lab::moving_average::wrong::misses_one_at_size {
namespace {

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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/misses_one_at_size",
                                       {.idea = "misses one at size",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>,
                                        .relative_error = no_bound}};

}  // namespace
}  // namespace lab::moving_average::wrong::misses_one_at_size

// Averages the window that ends one value earlier.
namespace lab::moving_average::wrong::off_by_one {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  averages[i] = i < window ? average(values, i, window) : average(values, i - 1, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/off_by_one",
                                       {.idea = "off by one",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::off_by_one

// Enqueues its work on a stream of its own.
namespace lab::moving_average::wrong::own_stream {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static cudaStream_t mine = nullptr;
  if (mine == nullptr) CUDA_CHECK(cudaStreamCreate(&mine));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  launch_over_outputs(moving_average_kernel, in, out, mine);
  CUDA_CHECK(cudaStreamSynchronize(mine));
}

const registration<problem> registered{"moving_average/own_stream",
                                       {.idea = "own stream",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::own_stream

// A barrier that the threads of the last, partial block do not all reach.
namespace lab::moving_average::wrong::partial_barrier {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  __syncthreads();
  averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/partial_barrier",
                                       {.idea = "partial barrier",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::partial_barrier

// An expected failure that is right: nothing is left to be shown.
namespace lab::moving_average::wrong::passes_after_all {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

constexpr failure_pattern expected[] = {{failure_kind::wrong}};

const registration<problem> registered{"moving_average/passes_after_all",
                                       {.idea = "passes after all",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>,
                                        .traits = {.expected_failure = {.failures = expected}}}};

}  // namespace
}  // namespace lab::moving_average::wrong::passes_after_all

// Reads a tile in front of its input, and makes nothing of it.
namespace lab::moving_average::wrong::reads_a_tile_beyond {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  const double stray = values[i - 1024];
  averages[i] = stray == 12345.678 ? 0 : average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/reads_a_tile_beyond",
                                       {.idea = "reads a tile beyond",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::reads_a_tile_beyond

// Computes the first time it is asked, and returns that answer ever after.
namespace lab::moving_average::wrong::returns_previous {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  // The first answer of each size is kept.
  static std::map<std::pair<std::int64_t, std::int64_t>, double*> kept;
  double*& answer = kept[{in.n, in.window}];
  const auto bytes = static_cast<std::size_t>(in.n) * sizeof(double);
  if (answer == nullptr) {
    launch_over_outputs(moving_average_kernel, in, out, stream);
    CUDA_CHECK(cudaMalloc(&answer, bytes));
    CUDA_CHECK(cudaMemcpyAsync(answer, out.averages, bytes, cudaMemcpyDeviceToDevice, stream));
  }
  CUDA_CHECK(cudaMemcpyAsync(out.averages, answer, bytes, cudaMemcpyDeviceToDevice, stream));
}

const registration<problem> registered{"moving_average/returns_previous",
                                       {.idea = "returns previous",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::returns_previous

// Right in the launches that are verified, before and after the timing: those between write zeros, or one of
// them does.
namespace lab::moving_average::wrong::right_when_watched {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = window > 0 ? average(values, i, window) : 0;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static std::map<std::int64_t, int> launches;
  launch_over_outputs(moving_average_kernel, in, out, stream);
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

const registration<problem> registered{"moving_average/right_when_watched",
                                       {.idea = "right when watched",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::right_when_watched

// Leaves the host rounding upward.
namespace lab::moving_average::wrong::rounds_upward {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
  std::fesetround(FE_UPWARD);
}

const registration<problem> registered{"moving_average/rounds_upward",
                                       {.idea = "rounds upward",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::rounds_upward

// Leaves a value out of windows of exactly two tiles, as a ring that has one slot too few for them does.
namespace lab::moving_average::wrong::two_tiles_exactly {
namespace {

constexpr std::int64_t tile = 1024;

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  averages[i] = average(values, i, window);
  if (window == 2 * tile && i >= 3 * tile)
    averages[i] -= values[i - window + 1] / static_cast<double>(window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/two_tiles_exactly",
                                       {.idea = "two tiles exactly", .launch = launch, .tile = tile}};

}  // namespace
}  // namespace lab::moving_average::wrong::two_tiles_exactly

// Running sums of differences along a thread's outputs, without the trait that says so.
namespace lab::moving_average::wrong::undeclared_drift {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/undeclared_drift",
                                       {.idea = "undeclared drift",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::undeclared_drift

// The last bit changes from launch to launch, without the trait that says so.
namespace lab::moving_average::wrong::unsteady {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n, int shift,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window) * (1 + 0x1p-52 * shift);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static int launches = 0;
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.averages,
              in.n, launches++ % 2, in.window);
}

const registration<problem> registered{"moving_average/unsteady",
                                       {.idea = "unsteady",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::unsteady

// Keeps 16 bits of the window.
namespace lab::moving_average::wrong::window_in_16_bits {
namespace {

constexpr std::int64_t tile = block_threads;

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i >= n) return;
  averages[i] = i < window - 1 ? incomplete : average(values, i, (window - 1) % 65'536 + 1);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/window_in_16_bits",
                                       {.idea = "a window of 16 bits", .launch = launch, .tile = tile}};

}  // namespace
}  // namespace lab::moving_average::wrong::window_in_16_bits

// Writes one value in front of the output.
namespace lab::moving_average::wrong::writes_before {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
  if (i == 0) averages[-1] = 0;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/writes_before",
                                       {.idea = "writes before",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::writes_before

// Writes one output too many: `<=` where `<` belongs.
namespace lab::moving_average::wrong::writes_beyond {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i <= n) averages[i] = i < n ? average(values, i, window) : 0;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(in.n / block_threads + 1);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.averages,
              in.n, in.window);
}

const registration<problem> registered{"moving_average/writes_beyond",
                                       {.idea = "writes beyond",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::writes_beyond

// Right but for one output.
namespace lab::moving_average::wrong::wrong_at_one_index {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window) * (i == 12345 ? 1 + 1e-9 : 1);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

const registration<problem> registered{"moving_average/wrong_at_one_index",
                                       {.idea = "wrong at one index",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong::wrong_at_one_index
