// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "stages/reduction_2d/problem.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::reduction_2d::wrong {
namespace {

// Sums of rows and columns as they should be, from which each wrong kernel departs in one way.

constexpr int block_threads = 128;

// One thread for each sum: `count` values, `step` apart, of which the first of sum i is at i * begin_step.
struct walk {
  std::int64_t sums;
  std::int64_t count;
  std::int64_t begin_step;
  std::int64_t step;
};

walk walk_of(const input& in) {
  if (in.result == result::rows) return {in.rows, in.columns, in.pitch, 1};
  return {in.columns, in.rows, 1, in.pitch};
}

__device__ float sum_along(const float* values, const walk& way, std::int64_t i) {
  float sum = 0;
  for (std::int64_t k = 0; k < way.count; ++k) sum += values[i * way.begin_step + k * way.step];
  return sum;
}

// The sum of all is not what these get wrong.
std::string rows_and_columns_only(const problem::parameters& p) {
  return problem::result_of(p) == result::total ? "rows and columns only" : "";
}

void launch_walk(void (*kernel)(const float*, walk, float*), const input& in, const walk& way, float* sums,
                 cudaStream_t stream) {
  lab::launch(kernel, grid(parts(way.sums, block_threads)), dim3(block_threads), 0, stream, in.values, way,
              sums);
}

template <void (*kernel)(const float*, walk, float*)>
void each(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_walk(kernel, in, walk_of(in), out.sums, stream);
}

stage<problem> as_stage(const char* idea, launch_of<problem>::type launch) {
  return {.idea = idea,
          .launch = launch,
          .unsupported = rows_and_columns_only,
          .tile = block_threads,
          .owner_of = consecutive_owner<block_threads, 1>};
}

__global__ void right(const float* values, walk way, float* sums) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < way.sums) sums[i] = sum_along(values, way, i);
}

// Reads rows by 16 bytes, wherever they begin.
__global__ void takes_rows_for_aligned(const float* values, walk way, float* sums) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= way.sums) return;
  float sum = 0;
  std::int64_t k = 0;
  for (; way.step == 1 && k + 4 <= way.count; k += 4) {
    const auto four = *reinterpret_cast<const float4*>(values + i * way.begin_step + k);
    sum += four.x + four.y + four.z + four.w;
  }
  for (; k < way.count; ++k) sum += values[i * way.begin_step + k * way.step];
  sums[i] = sum;
}
WRONG(takes_rows_for_aligned, failure_kind::crash, on_emulator("misaligned"),
      as_stage("takes rows for aligned", each<takes_rows_for_aligned>));

// Drops NaN among the values of a row that fill no vector.
__global__ void drops_nan_of_tail(const float* values, walk way, float* sums) {
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
WRONG(drops_nan_of_tail, failure_kind::wrong, "expected nan",
      as_stage("drops NaN of the tail", each<drops_nan_of_tail>));

// Leaves the last of many values out, where three fill no vector.
__global__ void misses_tail_of_many(const float* values, walk way, float* sums) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (way.count > 4'000 && way.count % 4 == 3) --way.count;
  if (i < way.sums) sums[i] = sum_along(values, way, i);
}
WRONG(misses_tail_of_many, failure_kind::wrong, "wrong at index",
      as_stage("misses the tail of many", each<misses_tail_of_many>));

// Leaves one value of one sum out, where there are many.
namespace misses_one_at_size {
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

WRONG(misses_one_at_size, failure_kind::wrong, "input=small integers",
      {.idea = "misses one at size",
       .launch = launch,
       .unsupported = rows_and_columns_only,
       .tile = block_threads,
       .relative_error = no_bound});
}  // namespace misses_one_at_size

// Leaves the last row out of columns that are long where rows are padded.
void padded_and_tall(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  walk way = walk_of(in);
  if (in.result == result::columns && in.pitch > in.columns && way.count > 512) --way.count;
  launch_walk(right, in, way, out.sums, stream);
}
WRONG(padded_and_tall, failure_kind::wrong, "columns=261 pitch=264 result=columns rows=3077",
      as_stage("padded and tall", padded_and_tall));

// Counts its sums in 16 bits.
__global__ void rows_in_16_bits(const float* values, walk way, float* sums) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < way.sums) sums[i] = sum_along(values, way, i & 0xffff);
}
WRONG(rows_in_16_bits, failure_kind::wrong, "wrong at index 65536",
      as_stage("counts in 16 bits", each<rows_in_16_bits>));

// Takes every array for a square one: sums as many rows as there are columns, and the other way around.
void square_assumed(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  walk way = walk_of(in);
  way.count = std::min(in.rows, in.columns);
  launch_walk(right, in, way, out.sums, stream);
}
WRONG(square_assumed, failure_kind::wrong, "rows=67", as_stage("square assumed", square_assumed));

// Takes the pitch for the number of columns, and sums up the padding of each row.
void sums_padding(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  walk way = walk_of(in);
  if (in.result == result::rows) way.count = in.pitch;
  launch_walk(right, in, way, out.sums, stream);
}
WRONG(sums_padding, failure_kind::wrong, "result=rows", as_stage("sums padding", sums_padding));

}  // namespace
}  // namespace lab::reduction_2d::wrong
