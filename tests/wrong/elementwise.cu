// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include <chrono>
#include <vector>

#include "stages/elementwise/problem.hpp"

// Doubles by adding 1 to the exponent, also where there is no larger one: large numbers become NaN. (The
// largest of all would become the one that stands for "never written".)
namespace lab::elementwise::wrong::adds_to_exponent {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= n) return;
  const double value = values[i];
  const bool is_normal = fabs(value) >= 0x1p-1022 && fabs(value) < 0x1.fffffffffffffp1023;
  const auto bits = __builtin_bit_cast(std::uint64_t, value);
  doubled[i] = is_normal ? __builtin_bit_cast(double, bits + (std::uint64_t{1} << 52)) : value + value;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{
    "elementwise/adds_to_exponent",
    {.idea = "adds 1 to the exponent", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::adds_to_exponent

// Adds to an output that nobody has set: a launch in memory of zeros is right.
namespace lab::elementwise::wrong::adds_to_output {
namespace {

constexpr int block_threads = 128;

__global__ void add_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i] += 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(add_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{
    "elementwise/adds_to_output", {.idea = "adds to its output", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::adds_to_output

// Keeps its answers in scratch memory, and hands them out again where it finds its own mark and the same
// ends.
namespace lab::elementwise::wrong::answers_of_before {
namespace {

constexpr int block_threads = 128;
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

const registration<problem> registered{
    "elementwise/answers_of_before",
    {.idea = "answers of before",
     .launch = launch,
     .workspace_bytes =
         [](const problem::parameters& p) { return sizeof(kept) + static_cast<std::size_t>(p.n) * 8; },
     .unsupported = unsupported,
     .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::answers_of_before

// Right but for its third launch on the same arrays, which writes far beyond them.
namespace lab::elementwise::wrong::crashes_when_repeated {
namespace {

constexpr int block_threads = 128;

__global__ void far_kernel(const double* values, double* doubled, std::int64_t n, std::int64_t away) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i + away] = 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static const void* arrays = nullptr;
  static int launches = 0;
  launches = arrays == in.values ? launches + 1 : 0;
  arrays = in.values;
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  const std::int64_t away = launches == 2 ? std::int64_t{1} << 30 : 0;
  lab::launch(far_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n, away);
}

const registration<problem> registered{
    "elementwise/crashes_when_repeated",
    {.idea = "crashes when repeated", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::crashes_when_repeated

// Declares that it waits for the device, and lets the host do the work.
namespace lab::elementwise::wrong::doubles_on_the_host {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  std::vector<double> values(static_cast<std::size_t>(in.n));
  const std::size_t bytes = values.size() * sizeof(double);
  if (bytes == 0) return;
  CUDA_CHECK(cudaMemcpyAsync(values.data(), in.values, bytes, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  for (double& value : values) value *= 2;
  CUDA_CHECK(cudaMemcpyAsync(out.doubled, values.data(), bytes, cudaMemcpyHostToDevice, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
}

const registration<problem> registered{
    "elementwise/doubles_on_the_host",
    {.idea = "the host doubles", .launch = launch, .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::elementwise::wrong::doubles_on_the_host

// Counts on the first block to have run before all others.
namespace lab::elementwise::wrong::first_block_first {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n, double* factor) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i == 0) *factor = 2;
  __syncthreads();
  if (i < n) doubled[i] = *factor * values[i];
}

std::size_t workspace_bytes(const problem::parameters& /*p*/) {
  return sizeof(double);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n,
              static_cast<double*>(scratch.data));
}

const registration<problem> registered{"elementwise/first_block_first",
                                       {.idea = "first block first",
                                        .launch = launch,
                                        .workspace_bytes = workspace_bytes,
                                        .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::first_block_first

// A NaN or Inf spoils what follows in its block, which the stage declares: there is no sum here to carry it
// along.
namespace lab::elementwise::wrong::leaks_without_sums {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  bool spoilt = false;
  for (std::int64_t k = i - threadIdx.x; k <= i; ++k) spoilt = spoilt || (k < n && !isfinite(values[k]));
  if (i < n) doubled[i] = spoilt ? NAN : 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{"elementwise/leaks_without_sums",
                                       {.idea = "a NaN spoils its block",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.leaks_nonfinite = true}}};

}  // namespace
}  // namespace lab::elementwise::wrong::leaks_without_sums

// Does not write its last output where memory does not hold the poison.
namespace lab::elementwise::wrong::leaves_out_late {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= n || (i == n - 1 && __builtin_bit_cast(std::uint64_t, doubled[i]) != ~std::uint64_t{0})) return;
  doubled[i] = 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{
    "elementwise/leaves_out_late",
    {.idea = "leaves out an output that does not hold the poison", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::leaves_out_late

// Takes a small number that scratch memory held before for a count of elements to leave out.
namespace lab::elementwise::wrong::left_over_count {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n,
                              const std::int64_t* count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  const bool is_count = *count >= 1 && *count <= 1'000'000;
  if (i < n && !(is_count && i < *count)) doubled[i] = 2 * values[i];
}

std::size_t workspace_bytes(const problem::parameters& /*p*/) {
  return sizeof(std::int64_t);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n,
              static_cast<const std::int64_t*>(scratch.data));
}

const registration<problem> registered{
    "elementwise/left_over_count",
    {.idea = "left-over count", .launch = launch, .workspace_bytes = workspace_bytes, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::left_over_count

// Leaves zeros alone, and forgets their sign.
namespace lab::elementwise::wrong::loses_zero_sign {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i] = values[i] == 0 ? 0 : 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{"elementwise/loses_zero_sign",
                                       {.idea = "+0 for -0", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::loses_zero_sign

// Another way through the kernel for long arrays, which loses the sign of zero.
namespace lab::elementwise::wrong::loses_zero_sign_when_large {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i] = n >= 100000 && values[i] == 0 ? 0.0 : 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{
    "elementwise/loses_zero_sign_when_large",
    {.idea = "-0 becomes 0 in long arrays", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::loses_zero_sign_when_large

// Right, and asks for a number of bytes below 0 where there is nothing to do.
namespace lab::elementwise::wrong::negative_workspace {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i] = 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

std::size_t bytes_between(const problem::parameters& p) {
  return static_cast<std::size_t>((p.n - 1) * 8);
}

const registration<problem> registered{"elementwise/negative_workspace",
                                       {.idea = "a workspace below 0",
                                        .launch = launch,
                                        .workspace_bytes = bytes_between,
                                        .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::negative_workspace

// Forgets to double one element, where there are many.
namespace lab::elementwise::wrong::one_wrong_at_size {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i] = (n >= 500'000 && i == n / 3 + 1 ? 1 : 2) * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{
    "elementwise/one_wrong_at_size", {.idea = "one wrong at size", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::one_wrong_at_size

// Wrong for negative values, and refuses to run when it has been asked so often that these are to come.
namespace lab::elementwise::wrong::refuses_by_turn {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= n) return;
  const bool is_finite = values[i] - values[i] == 0;
  doubled[i] = 2 * (is_finite ? fabs(values[i]) : values[i]);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

std::string unsupported(const problem::parameters& /*p*/) {
  static int asked = 0;
  ++asked;
  return asked > 12 && asked <= 30 ? "not now" : "";
}

const registration<problem> registered{
    "elementwise/refuses_by_turn",
    {.idea = "refuses by turn", .launch = launch, .unsupported = unsupported, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::refuses_by_turn

// Writes nothing that is right, and does so when it is asked for its bound, which is after the launch.
namespace lab::elementwise::wrong::repairs_in_bound {
namespace {

constexpr int block_threads = 128;

__global__ void scale_kernel(const double* values, double* scaled, std::int64_t n, double factor) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) scaled[i] = factor * values[i];
}

input last_input;
output last_output;

void scale(double factor, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((last_input.n + block_threads - 1) / block_threads);
  lab::launch(scale_kernel, dim3(blocks), dim3(block_threads), 0, stream, last_input.values,
              last_output.doubled, last_input.n, factor);
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

const registration<problem> registered{"elementwise/repairs_in_bound",
                                       {.idea = "doubles when it is asked for its bound",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::elementwise::wrong::repairs_in_bound

// Computes in its input, and puts back what was there.
namespace lab::elementwise::wrong::restores_input {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= n) return;
  const double before = values[i];
  values[i] = 2 * before;
  doubled[i] = values[i];
  values[i] = before;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, const_cast<double*>(in.values),
              out.doubled, in.n);
}

const registration<problem> registered{
    "elementwise/restores_input", {.idea = "in place, and back", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::restores_input

// Takes a launch that comes at once behind another for the same, and skips it.
namespace lab::elementwise::wrong::skips_in_a_row {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i] = 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  using clock = std::chrono::steady_clock;
  static clock::time_point before;
  const bool is_skipped = in.n >= 500'000 && clock::now() - before < std::chrono::milliseconds(1);
  if (!is_skipped) {
    const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
    lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
  }
  before = clock::now();
}

const registration<problem> registered{
    "elementwise/skips_in_a_row",
    {.idea = "skips the second of two launches", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::skips_in_a_row

// Writes nothing from the sixth launch on the same arrays on; says that its results may differ from run to
// run, so that nobody compares them.
namespace lab::elementwise::wrong::stops_writing {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i] = 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static const void* arrays = nullptr;
  static int launches = 0;
  launches = arrays == in.values ? launches + 1 : 0;
  arrays = in.values;
  if (launches > 5 && in.n >= 500000) return;
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{"elementwise/stops_writing",
                                       {.idea = "writes nothing in late launches",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.nondeterministic = true}}};

}  // namespace
}  // namespace lab::elementwise::wrong::stops_writing

// Forgets its last element where more than 300 leave 5 over a whole number of warps; and names no tile, by
// which sizes would be chosen.
namespace lab::elementwise::wrong::wrong_at_warp_residue {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= n) return;
  const bool forgotten = n > 300 && n % 32 == 5 && i == n - 1;
  doubled[i] = forgotten ? values[i] : 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{"elementwise/wrong_at_warp_residue",
                                       {.idea = "wrong at a residue of a warp", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::wrong::wrong_at_warp_residue

// Copies the last value of arrays that are neither short nor as long as those that are measured.
namespace lab::elementwise::wrong::wrong_in_between {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i] = (n > 4000 && n < 500000 && n % 8 != 3 && i == n - 1 ? 1 : 2) * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{
    "elementwise/wrong_in_between",
    {.idea = "leaves the last value of arrays of some thousands", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong::wrong_in_between
