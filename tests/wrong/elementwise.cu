// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
// CUDA's own headers, which a stage may include on every device.
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <math_constants.h>

#include <vector>

#include "stages/elementwise/problem.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;

__device__ std::int64_t own_index() {
  return static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
}

// A thread for each value; `more` are further arguments of the kernel.
template <class... More>
void launch_each(void (*kernel)(const double*, double*, std::int64_t, More...), const input& in,
                 const output& out, cudaStream_t stream, More... more) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n, more...);
}
template <void (*kernel)(const double*, double*, std::int64_t)>
void each(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_each(kernel, in, out, stream);
}

// What nearly all have in common.
template <void (*kernel)(const double*, double*, std::int64_t)>
stage<problem> as_stage(const char* idea) {
  return {.idea = idea, .launch = each<kernel>, .tile = block_threads};
}

template <std::size_t count>
std::size_t bytes(const problem::parameters& /*p*/) {
  return count;
}

__global__ void right(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = own_index();
  if (i < n) doubled[i] = 2 * values[i];
}

// Doubles by adding 1 to the exponent, also where there is no larger one: large numbers become NaN. (The
// largest of all would become the one that stands for "never written".)
__global__ void adds_to_exponent(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = own_index();
  if (i >= n) return;
  const double value = values[i];
  const bool is_normal = fabs(value) >= 0x1p-1022 && fabs(value) < 0x1.fffffffffffffp1023;
  const auto bits = __builtin_bit_cast(std::uint64_t, value);
  doubled[i] = is_normal ? __builtin_bit_cast(double, bits + (std::uint64_t{1} << 52)) : value + value;
}
WRONG(adds_to_exponent, failure_kind::wrong, "input=extremes",
      as_stage<adds_to_exponent>("adds 1 to the exponent"));

// Adds to an output that nobody has set: a launch in memory of zeros is right.
__global__ void adds_to_output(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = own_index();
  if (i < n) doubled[i] += 2 * values[i];
}
WRONG(adds_to_output, failure_kind::wrong,
      on_emulator("found nan, computed from memory that was never written"),
      as_stage<adds_to_output>("adds to its output"));

// Keeps its answers in scratch memory, and hands them out again where it finds its own mark and the same
// ends.
namespace answers_of_before {
constexpr std::uint64_t own_mark = 0x6b657074a75e75u;

struct kept {
  std::uint64_t mark;
  std::int64_t n;
  double first;
  double last;
};

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n, kept* before) {
  auto* const answers = reinterpret_cast<double*>(before + 1);
  __shared__ bool is_known;
  if (threadIdx.x == 0)
    is_known = before->mark == own_mark && before->n == n && before->first == values[0] &&
               before->last == values[n - 1];
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < n; i += block_threads) {
    doubled[i] = is_known ? answers[i] : 2 * values[i];
    answers[i] = doubled[i];
  }
  if (threadIdx.x == 0) *before = {own_mark, n, values[0], values[n - 1]};
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  lab::launch(double_kernel, dim3(1), dim3(block_threads), 0, stream, in.values, out.doubled, in.n,
              static_cast<kept*>(scratch.data));
}

std::string unsupported(const problem::parameters& p) {
  return p.n > (1 << 24) ? "it keeps the answers of few values" : "";
}

WRONG(answers_of_before, failure_kind::wrong, "after a launch on nearly the same input",
      {.idea = "answers of before",
       .launch = launch,
       .workspace_bytes =
           [](const problem::parameters& p) { return sizeof(kept) + static_cast<std::size_t>(p.n) * 8; },
       .unsupported = unsupported,
       .tile = block_threads});
}  // namespace answers_of_before

// Right but for its third launch on the same arrays, which writes far beyond them.
__global__ void crashes_when_repeated(const double* values, double* doubled, std::int64_t n,
                                      std::int64_t away) {
  const std::int64_t i = own_index();
  if (i < n) doubled[i + away] = 2 * values[i];
}

void launch_crashes_when_repeated(const input& in, const output& out, workspace /*scratch*/,
                                  cudaStream_t stream) {
  static const void* arrays = nullptr;
  static int launches = 0;
  launches = arrays == in.values ? launches + 1 : 0;
  arrays = in.values;
  launch_each(crashes_when_repeated, in, out, stream, launches == 2 ? std::int64_t{1} << 30 : 0);
}
WRONG(crashes_when_repeated, failure_kind::crash,
      on_emulator("crashes_when_repeated: block (0,0,0): thread  ... , launched once more)"),
      {.idea = "crashes when repeated", .launch = launch_crashes_when_repeated, .tile = block_threads});

// Declares that it waits for the device, and lets the host do the work.
void launch_doubles_on_the_host(const input& in, const output& out, workspace /*scratch*/,
                                cudaStream_t stream) {
  std::vector<double> values(static_cast<std::size_t>(in.n));
  const std::size_t bytes = values.size() * sizeof(double);
  if (bytes == 0) return;
  CUDA_CHECK(cudaMemcpyAsync(values.data(), in.values, bytes, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  for (double& value : values) value *= 2;
  CUDA_CHECK(cudaMemcpyAsync(out.doubled, values.data(), bytes, cudaMemcpyHostToDevice, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
}
WRONG(doubles_on_the_host, failure_kind::launch, on_emulator("more than 1 MiB"),
      {.idea = "the host doubles", .launch = launch_doubles_on_the_host, .traits = {.synchronises = true}});

// Counts on the first block to have run before all others.
namespace first_block_first {
__global__ void double_kernel(const double* values, double* doubled, std::int64_t n, double* factor) {
  const std::int64_t i = own_index();
  if (i == 0) *factor = 2;
  __syncthreads();
  if (i < n) doubled[i] = *factor * values[i];
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_each(double_kernel, in, out, stream, static_cast<double*>(scratch.data));
}

WRONG(first_block_first, failure_kind::wrong, on_emulator("last block and thread first"),
      {.idea = "first block first",
       .launch = launch,
       .workspace_bytes = bytes<sizeof(double)>,
       .tile = block_threads});
}  // namespace first_block_first

// A NaN or Inf spoils what follows in its block, which the stage declares: there is no sum here to carry it
// along.
__global__ void leaks_without_sums(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = own_index();
  bool spoilt = false;
  for (std::int64_t k = i - threadIdx.x; k <= i; ++k) spoilt = spoilt || (k < n && !isfinite(values[k]));
  if (i < n) doubled[i] = spoilt ? NAN : 2 * values[i];
}
WRONG(leaks_without_sums, failure_kind::wrong, "found nan",
      {.idea = "a NaN spoils its block",
       .launch = each<leaks_without_sums>,
       .tile = block_threads,
       .traits = {.leaks_nonfinite = true}});

// Does not write its last output where memory does not hold the poison.
__global__ void leaves_out_late(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = own_index();
  if (i >= n || (i == n - 1 && __builtin_bit_cast(std::uint64_t, doubled[i]) != ~std::uint64_t{0})) return;
  doubled[i] = 2 * values[i];
}
WRONG(leaves_out_late, failure_kind::unwritten, " was never written (",
      as_stage<leaves_out_late>("leaves out an output that does not hold the poison"));

// Takes a small number that scratch memory held before for a count of elements to leave out.
namespace left_over_count {
__global__ void double_kernel(const double* values, double* doubled, std::int64_t n,
                              const std::int64_t* count) {
  const std::int64_t i = own_index();
  const bool is_count = *count >= 1 && *count <= 1'000'000;
  if (i < n && !(is_count && i < *count)) doubled[i] = 2 * values[i];
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_each(double_kernel, in, out, stream, static_cast<const std::int64_t*>(scratch.data));
}

WRONG(left_over_count, failure_kind::wrong, "memory of random bytes",
      {.idea = "left-over count",
       .launch = launch,
       .workspace_bytes = bytes<sizeof(std::int64_t)>,
       .tile = block_threads});
}  // namespace left_over_count

// Leaves zeros alone, and forgets their sign.
__global__ void loses_zero_sign(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = own_index();
  if (i < n) doubled[i] = values[i] == 0 ? 0 : 2 * values[i];
}
WRONG(loses_zero_sign, failure_kind::wrong, "expected -0, found 0", as_stage<loses_zero_sign>("+0 for -0"));

// Another way through the kernel for long arrays, which loses the sign of zero.
__global__ void loses_zero_sign_when_large(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = own_index();
  if (i < n) doubled[i] = n >= 100000 && values[i] == 0 ? 0.0 : 2 * values[i];
}
WRONG(loses_zero_sign_when_large, failure_kind::wrong, "expected -0, found 0",
      as_stage<loses_zero_sign_when_large>("-0 becomes 0 in long arrays"));

// Right, and asks for a number of bytes below 0 where there is nothing to do.
namespace negative_workspace {
std::size_t bytes_between(const problem::parameters& p) {
  return static_cast<std::size_t>((p.n - 1) * 8);
}

WRONG(negative_workspace, failure_kind::unsupported,
      "bytes of scratch memory (-8 as an unsigned number), more than any device has, in ",
      {.idea = "a workspace below 0",
       .launch = each<right>,
       .workspace_bytes = bytes_between,
       .tile = block_threads});
}  // namespace negative_workspace

// Forgets to double one element, where there are many.
__global__ void one_wrong_at_size(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = own_index();
  if (i < n) doubled[i] = (n >= 500'000 && i == n / 3 + 1 ? 1 : 2) * values[i];
}
WRONG(one_wrong_at_size, failure_kind::wrong, "wrong at index ",
      as_stage<one_wrong_at_size>("one wrong at size"));

// Wrong for negative values, and refuses to run when it has been asked so often that these are to come.
namespace refuses_by_turn {
__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = own_index();
  if (i >= n) return;
  const bool is_finite = values[i] - values[i] == 0;
  doubled[i] = 2 * (is_finite ? fabs(values[i]) : values[i]);
}

std::string unsupported(const problem::parameters& /*p*/) {
  static int asked = 0;
  ++asked;
  return asked > 12 && asked <= 30 ? "not now" : "";
}

WRONG(refuses_by_turn, failure_kind::wrong, "wrong at index",
      {.idea = "refuses by turn",
       .launch = each<double_kernel>,
       .unsupported = unsupported,
       .tile = block_threads});
}  // namespace refuses_by_turn

// Writes nothing that is right, and does so when it is asked for its bound, which is after the launch.
namespace repairs_in_bound {
__global__ void scale_kernel(const double* values, double* scaled, std::int64_t n, double factor) {
  const std::int64_t i = own_index();
  if (i < n) scaled[i] = factor * values[i];
}

input last_input;
output last_output;

void scale(double factor, cudaStream_t stream) {
  launch_each(scale_kernel, last_input, last_output, stream, factor);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  last_input = in;
  last_output = out;
  scale(0, stream);
}

double relative_error(const problem::parameters& /*p*/) {
  if (last_input.values == nullptr) return 0;
  scale(2, nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
  return 0;
}

WRONG(repairs_in_bound, failure_kind::wrong, "wrong at index",
      {.idea = "doubles when it is asked for its bound",
       .launch = launch,
       .tile = block_threads,
       .relative_error = relative_error});
}  // namespace repairs_in_bound

// Computes in its input, and puts back what was there.
__global__ void restores_input(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = own_index();
  if (i >= n) return;
  double& value = const_cast<double&>(values[i]);
  const double before = value;
  value = 2 * before;
  doubled[i] = value;
  value = before;
}
WRONG(restores_input, failure_kind::input_changed, on_emulator("which a launch may only read"),
      as_stage<restores_input>("in place, and back"));

// Takes a launch for the one before wherever the length is the same and only the arrays are others.
void launch_skips_in_a_row(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static const double* values = nullptr;
  static std::int64_t n = 0;
  const bool is_skipped = in.n >= 500'000 && in.n == n && in.values != values;
  if (!is_skipped) launch_each(right, in, out, stream);
  values = in.values;
  n = in.n;
}
WRONG(skips_in_a_row, failure_kind::unwritten,
      emulated ? "one of two launches in a row" : "was never written",
      {.idea = "skips the second of two launches", .launch = launch_skips_in_a_row, .tile = block_threads});

// Writes nothing from the sixth launch on the same arrays on; says that its results may differ from run to
// run, so that nobody compares them.
void launch_stops_writing(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static const void* arrays = nullptr;
  static int launches = 0;
  launches = arrays == in.values ? launches + 1 : 0;
  arrays = in.values;
  if (launches > 5 && in.n >= 500000) return;
  launch_each(right, in, out, stream);
}
STAGE(stops_writing, {.idea = "writes nothing in late launches",
                      .launch = launch_stops_writing,
                      .tile = block_threads,
                      .traits = {.nondeterministic = true}});

// Forgets its last element where more than 300 leave 5 over a whole number of warps; and names no tile, by
// which sizes would be chosen.
__global__ void wrong_at_warp_residue(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = own_index();
  if (i >= n) return;
  const bool forgotten = n > 300 && n % 32 == 5 && i == n - 1;
  doubled[i] = forgotten ? values[i] : 2 * values[i];
}
WRONG(wrong_at_warp_residue, failure_kind::wrong, "wrong at index",
      {.idea = "wrong at a residue of a warp", .launch = each<wrong_at_warp_residue>});

// Copies the last value of arrays that are neither short nor as long as those that are measured.
__global__ void wrong_in_between(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = own_index();
  if (i < n) doubled[i] = (n > 4000 && n < 500000 && n % 8 != 3 && i == n - 1 ? 1 : 2) * values[i];
}
WRONG(wrong_in_between, failure_kind::wrong, "wrong at index",
      as_stage<wrong_in_between>("leaves the last value of arrays of some thousands"));

}  // namespace
}  // namespace lab::elementwise::wrong
