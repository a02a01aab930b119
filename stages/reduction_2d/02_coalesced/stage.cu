// Neighbouring threads read neighbouring values, and there are enough threads to keep the memory busy.
// A warp adds up a row and combines its lanes with shuffles. A block of 32 x 8 threads adds up 32
// columns. The rows are cut into strips, so that 20000 columns occupy many times 20000 threads. The
// strips' sums are an array of few rows, and the same kernel adds them up. The total is the sum of the
// rows' sums.
#include "common/block_reduce.hpp"
#include "common/multiprocessors.hpp"
#include "stages/reduction_2d/problem.hpp"

namespace lab::reduction_2d::coalesced {
namespace {

constexpr int block_threads = 256;
constexpr int block_rows = block_threads / 32;
constexpr int finish_threads = 1024;

__global__ void __launch_bounds__(block_threads)
    row_sums_kernel(const float* __restrict__ values, std::int64_t rows, std::int64_t columns,
                    std::int64_t pitch, float* __restrict__ sums) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_rows + threadIdx.x / 32;
  if (row >= rows) return;
  const auto lane = static_cast<int>(threadIdx.x % 32);
  float partial = 0;
  // exercise: share
  for (std::int64_t column = lane; column < columns; column += 32) partial += values[row * pitch + column];
  // end
  partial = warp_reduce(partial, sum<float>{});
  if (lane == 0) sums[row] = partial;
}

// Strip y of the rows, for 32 columns: sums[y * columns + column].
__global__ void __launch_bounds__(block_threads)
    column_sums_kernel(const float* __restrict__ values, std::int64_t rows, std::int64_t columns,
                       std::int64_t pitch, float* __restrict__ sums) {
  __shared__ float of_thread[block_rows][32];
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const auto first = static_cast<int>(threadIdx.x / 32);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * 32 + lane;
  const std::int64_t end = rows * (blockIdx.y + 1) / gridDim.y;
  float partial = 0;
  if (column < columns) {
    for (std::int64_t row = rows * blockIdx.y / gridDim.y + first; row < end; row += block_rows) {
      partial += values[row * pitch + column];
    }
  }
  of_thread[first][lane] = partial;
  __syncthreads();
  if (first > 0 || column >= columns) return;
  for (int k = 1; k < block_rows; ++k) partial += of_thread[k][lane];
  sums[blockIdx.y * columns + column] = partial;
}

__global__ void __launch_bounds__(finish_threads)
    total_kernel(const float* __restrict__ sums, std::int64_t count, float* __restrict__ total) {
  float partial = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += finish_threads) partial += sums[i];
  partial = block_reduce<finish_threads>(partial, sum<float>{});
  if (threadIdx.x == 0) *total = partial;
}

// Strips of at least 64 rows, enough for 16 blocks on each multiprocessor.
std::int64_t strips_of(std::int64_t rows, std::int64_t columns) {
  const std::int64_t wanted =
      parts(std::int64_t{multiprocessors()} * 16, std::max<std::int64_t>(1, parts(columns, 32)));
  return std::clamp<std::int64_t>(rows / 64, 1, wanted);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const dim3 threads(block_threads);
  auto* partials = static_cast<float*>(scratch.data);
  if (in.result == result::columns) {
    const std::int64_t strips = strips_of(in.rows, in.columns);
    lab::launch(column_sums_kernel, grid(parts(in.columns, 32), strips), threads, 0, stream, in.values,
                in.rows, in.columns, in.pitch, strips == 1 ? out.sums : partials);
    if (strips == 1) return;
    lab::launch(column_sums_kernel, grid(parts(in.columns, 32)), threads, 0, stream, partials, strips,
                in.columns, in.columns, out.sums);
    return;
  }
  lab::launch(row_sums_kernel, grid(parts(in.rows, block_rows)), threads, 0, stream, in.values, in.rows,
              in.columns, in.pitch, in.result == result::rows ? out.sums : partials);
  if (in.result == result::rows) return;
  lab::launch(total_kernel, dim3(1), dim3(finish_threads), 0, stream, partials, in.rows, out.sums);
}

std::size_t workspace_bytes(const problem::parameters& p) {
  const std::int64_t sums =
      problem::result_of(p) == result::columns ? strips_of(p.rows, p.columns) * p.columns : p.rows;
  return static_cast<std::size_t>(sums) * sizeof(float);
}

// A value's longest way: its thread's additions and the warp's or block's, and then those of the second
// launch.
double relative_error(const problem::parameters& p) {
  if (problem::result_of(p) == result::columns) {
    const std::int64_t strips = strips_of(p.rows, p.columns);
    return rounding_error(parts(p.rows, strips * block_rows) + 1 + 7 + parts(strips, block_rows) + 7);
  }
  return rounding_error(parts(p.columns, 32) + 5 + parts(p.rows, finish_threads) + 10);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a warp per row; strips of rows for 32 columns at a time",
                                        .launch = launch,
                                        .workspace_bytes = workspace_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction_2d::coalesced
