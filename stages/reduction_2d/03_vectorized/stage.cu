// Loads of 16 bytes, four in flight in each thread. A block of 512 threads adds up one row, 32 KiB per step.
// For columns, a block of 32 x 8 threads takes 128 columns, 512 bytes of each row, and each thread reads four
// rows per step.
#include "common/block_reduce.hpp"
#include "common/multiprocessors.hpp"
#include "stages/reduction_2d/problem.hpp"
#include "stages/reduction_2d/span.hpp"

namespace lab::reduction_2d::vectorized {
namespace {

constexpr int row_threads = 512;
constexpr int column_threads = 256;
constexpr int strip_rows = column_threads / 32;
constexpr int loads = 4;

__global__ void __launch_bounds__(row_threads)
    row_sums_kernel(const float* __restrict__ values, std::int64_t columns, std::int64_t pitch,
                    float* __restrict__ sums) {
  float partial = sum_share<row_threads>(values + blockIdx.x * pitch, columns, static_cast<int>(threadIdx.x));
  partial = block_reduce<row_threads>(partial, sum<float>{});
  if (threadIdx.x == 0) sums[blockIdx.x] = partial;
}

__device__ void add(float& sum, float value) {
  sum += value;
}
// By value: one load of 16 bytes, not of each member.
__device__ void add(float4& sum, float4 value) {
  sum.x += value.x;
  sum.y += value.y;
  sum.z += value.z;
  sum.w += value.w;
}

// Strip y of the rows: sums[y * pitch_of_sums + column]. A vector is a float4 where every row begins at a
// multiple of 16 bytes, and then the last one may reach into the padding; elsewhere it is a float.
template <class Vector>
__global__ void __launch_bounds__(column_threads)
    column_sums_kernel(const float* __restrict__ values, std::int64_t rows, std::int64_t columns,
                       std::int64_t pitch, float* __restrict__ sums, std::int64_t pitch_of_sums) {
  constexpr int width = sizeof(Vector) / sizeof(float);
  __shared__ Vector of_thread[strip_rows][32];
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const auto first = static_cast<int>(threadIdx.x / 32);
  const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * 32 + lane) * width;
  const std::int64_t end = rows * (blockIdx.y + 1) / gridDim.y;
  std::int64_t row = rows * blockIdx.y / gridDim.y + first;
  Vector partial{};
  if (column < columns) {
    // exercise: loads
    for (; row + (loads - 1) * strip_rows < end; row += loads * strip_rows) {
      Vector loaded[loads];
#pragma unroll
      for (int k = 0; k < loads; ++k) {
        loaded[k] = *reinterpret_cast<const Vector*>(values + (row + k * strip_rows) * pitch + column);
      }
#pragma unroll
      for (int k = 0; k < loads; ++k) add(partial, loaded[k]);
    }
    for (; row < end; row += strip_rows)
      add(partial, *reinterpret_cast<const Vector*>(values + row * pitch + column));
    // end
  }
  of_thread[first][lane] = partial;
  __syncthreads();
  if (first > 0 || column >= columns) return;
  for (int k = 1; k < strip_rows; ++k) add(partial, of_thread[k][lane]);
  const auto* of_column = reinterpret_cast<const float*>(&partial);
#pragma unroll
  for (int k = 0; k < width; ++k) {
    if (column + k < columns) sums[blockIdx.y * pitch_of_sums + column + k] = of_column[k];
  }
}

void launch_column_sums(const float* values, std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                        std::int64_t strips, float* sums, std::int64_t pitch_of_sums, cudaStream_t stream) {
  const bool wide = pitch % 4 == 0;
  lab::launch(wide ? column_sums_kernel<float4> : column_sums_kernel<float>,
              grid(parts(columns, wide ? 128 : 32), strips), dim3(column_threads), 0, stream, values, rows,
              columns, pitch, sums, pitch_of_sums);
}

// Strips of at least 64 rows, enough for 16 blocks on each multiprocessor.
std::int64_t strips_of(std::int64_t rows, std::int64_t columns) {
  const std::int64_t wanted =
      parts(std::int64_t{multiprocessors()} * 16, std::max<std::int64_t>(1, parts(columns, 128)));
  return std::clamp<std::int64_t>(rows / 64, 1, wanted);
}
// The strips' sums begin at multiples of 16 bytes as well.
std::int64_t pitch_of_strips(std::int64_t columns) {
  return parts(columns, 4) * 4;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  auto* partials = static_cast<float*>(scratch.data);
  if (in.result == result::columns) {
    const std::int64_t strips = strips_of(in.rows, in.columns);
    const std::int64_t pitch = pitch_of_strips(in.columns);
    launch_column_sums(in.values, in.rows, in.columns, in.pitch, strips, partials, pitch, stream);
    launch_column_sums(partials, strips, in.columns, pitch, 1, out.sums, pitch, stream);
    return;
  }
  lab::launch(row_sums_kernel, grid(in.rows), dim3(row_threads), 0, stream, in.values, in.columns, in.pitch,
              in.result == result::rows ? out.sums : partials);
  if (in.result == result::rows) return;
  lab::launch(row_sums_kernel, dim3(1), dim3(row_threads), 0, stream, partials, in.rows, in.rows, out.sums);
}

std::size_t workspace_bytes(const problem::parameters& p) {
  const std::int64_t sums = problem::result_of(p) == result::columns
                                ? strips_of(p.rows, p.columns) * pitch_of_strips(p.columns)
                                : p.rows;
  return static_cast<std::size_t>(sums) * sizeof(float);
}

// A value's longest way: its thread's additions and the block's, and then those of the second launch.
double relative_error(const problem::parameters& p) {
  if (problem::result_of(p) == result::columns) {
    const std::int64_t strips = strips_of(p.rows, p.columns);
    return rounding_error(parts(p.rows, strips * strip_rows) + 1 + 7 + parts(strips, strip_rows) + 7);
  }
  return rounding_error(share_additions(p.columns, row_threads) + 10 + share_additions(p.rows, row_threads) +
                        10);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "16-byte loads, four in flight: a block per row, 128 columns at a time",
     .launch = launch,
     .workspace_bytes = workspace_bytes,
     .tile = 4 * row_threads,
     .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction_2d::vectorized
