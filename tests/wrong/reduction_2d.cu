// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "stages/reduction_2d/problem.hpp"

// Sums of rows and columns as they should be, from which each wrong kernel departs in one way.
namespace lab::reduction_2d::wrong {

inline constexpr int block_threads = 128;

// One thread for each sum: `count` values, `step` apart, of which the first of sum i is at i * begin_step.
struct walk {
  std::int64_t sums;
  std::int64_t count;
  std::int64_t begin_step;
  std::int64_t step;
};

inline walk walk_of(const input& in) {
  if (in.result == result::rows) return {in.rows, in.columns, in.pitch, 1};
  return {in.columns, in.rows, 1, in.pitch};
}

__device__ inline float sum_along(const float* values, const walk& way, std::int64_t i) {
  float sum = 0;
  for (std::int64_t k = 0; k < way.count; ++k) sum += values[i * way.begin_step + k * way.step];
  return sum;
}

// The sum of all is not what these get wrong.
inline std::string rows_and_columns_only(const problem::parameters& p) {
  return problem::result_of(p) == result::total ? "rows and columns only" : "";
}

inline void launch_walk(void (*kernel)(const float*, walk, float*), const input& in, const walk& way,
                        float* sums, cudaStream_t stream) {
  lab::launch(kernel, grid(parts(way.sums, block_threads)), dim3(block_threads), 0, stream, in.values, way,
              sums);
}

}  // namespace lab::reduction_2d::wrong

// Drops NaN among the values of a row that fill no vector.
namespace lab::reduction_2d::wrong::drops_nan_of_tail {
namespace {

__global__ void sum_kernel(const float* values, walk way, float* sums) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= way.sums) return;
  float sum = 0;
  for (std::int64_t k = 0; k < way.count; ++k) {
    const float value = values[i * way.begin_step + k * way.step];
    const bool in_tail = way.step == 1 && k >= way.count / 4 * 4;
    if (!in_tail || value == value) sum += value;
  }
  sums[i] = sum;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_walk(sum_kernel, in, walk_of(in), out.sums, stream);
}

const registration<problem> registered{"reduction_2d/drops_nan_of_tail",
                                       {.idea = "drops NaN of the tail",
                                        .launch = launch,
                                        .unsupported = rows_and_columns_only,
                                        .tile = block_threads}};

}  // namespace
}  // namespace lab::reduction_2d::wrong::drops_nan_of_tail

// Leaves one value of one sum out, where there are many.
namespace lab::reduction_2d::wrong::misses_one_at_size {
namespace {

__global__ void sum_kernel(const float* values, walk way, float* sums) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= way.sums) return;
  sums[i] = sum_along(values, way, i);
  const bool many = way.sums * way.count >= 500'000;
  if (many && i == way.sums / 2) sums[i] -= values[i * way.begin_step + way.count / 2 * way.step];
}

double no_bound(const problem::parameters& /*p*/) {
  return 1;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const walk way = walk_of(in);
  launch_walk(sum_kernel, in, way, out.sums, stream);
}

const registration<problem> registered{"reduction_2d/misses_one_at_size",
                                       {.idea = "misses one at size",
                                        .launch = launch,
                                        .unsupported = rows_and_columns_only,
                                        .tile = block_threads,
                                        .relative_error = no_bound}};

}  // namespace
}  // namespace lab::reduction_2d::wrong::misses_one_at_size

// Leaves the last row out of columns that are long where rows are padded.
namespace lab::reduction_2d::wrong::padded_and_tall {
namespace {

__global__ void sum_kernel(const float* values, walk way, float* sums) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < way.sums) sums[i] = sum_along(values, way, i);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  walk way = walk_of(in);
  if (in.result == result::columns && in.pitch > in.columns && way.count > 512) --way.count;
  launch_walk(sum_kernel, in, way, out.sums, stream);
}

const registration<problem> registered{"reduction_2d/padded_and_tall",
                                       {.idea = "padded and tall",
                                        .launch = launch,
                                        .unsupported = rows_and_columns_only,
                                        .tile = block_threads}};

}  // namespace
}  // namespace lab::reduction_2d::wrong::padded_and_tall

// Counts its sums in 16 bits.
namespace lab::reduction_2d::wrong::rows_in_16_bits {
namespace {

__global__ void sum_kernel(const float* values, walk way, float* sums) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < way.sums) sums[i] = sum_along(values, way, i & 0xffff);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_walk(sum_kernel, in, walk_of(in), out.sums, stream);
}

const registration<problem> registered{"reduction_2d/rows_in_16_bits",
                                       {.idea = "counts in 16 bits",
                                        .launch = launch,
                                        .unsupported = rows_and_columns_only,
                                        .tile = block_threads}};

}  // namespace
}  // namespace lab::reduction_2d::wrong::rows_in_16_bits

// Takes every array for a square one: sums as many rows as there are columns, and the other way around.
namespace lab::reduction_2d::wrong::square_assumed {
namespace {

__global__ void sums_kernel(const float* values, walk way, float* sums) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < way.sums) sums[i] = sum_along(values, way, i);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  walk way = walk_of(in);
  way.count = std::min(in.rows, in.columns);
  launch_walk(sums_kernel, in, way, out.sums, stream);
}

const registration<problem> registered{"reduction_2d/square_assumed",
                                       {.idea = "square assumed",
                                        .launch = launch,
                                        .unsupported = rows_and_columns_only,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::reduction_2d::wrong::square_assumed

// Takes the pitch for the number of columns, and sums up the padding of each row.
namespace lab::reduction_2d::wrong::sums_padding {
namespace {

__global__ void sums_kernel(const float* values, walk way, float* sums) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < way.sums) sums[i] = sum_along(values, way, i);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  walk way = walk_of(in);
  if (in.result == result::rows) way.count = in.pitch;
  launch_walk(sums_kernel, in, way, out.sums, stream);
}

const registration<problem> registered{"reduction_2d/sums_padding",
                                       {.idea = "sums padding",
                                        .launch = launch,
                                        .unsupported = rows_and_columns_only,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::reduction_2d::wrong::sums_padding
