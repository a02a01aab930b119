// The total: 64 x 64 blocks of 16 x 16 threads; each thread strides over the array in both directions. The
// 256 results of a block go to a one-dimensional shared array, indexed by the threads' linear number, and a
// halving tree combines them. The same kernel, with one block, combines the 64 x 64 partial results. The sums
// of rows and columns: one thread for each.
#include "stages/reduction_2d/problem.hpp"

namespace lab::reduction_2d::naive {
namespace {

constexpr int side = 16;
constexpr int block_threads = side * side;
constexpr std::int64_t max_blocks = 64;  // in either direction

__global__ void __launch_bounds__(block_threads)
    total_kernel(const float* __restrict__ values, std::int64_t rows, std::int64_t columns,
                 std::int64_t pitch, float* __restrict__ partials) {
  __shared__ float of_thread[block_threads];
  float partial = 0;
  const std::int64_t row_stride = static_cast<std::int64_t>(gridDim.y) * side;
  const std::int64_t column_stride = static_cast<std::int64_t>(gridDim.x) * side;
  for (std::int64_t row = blockIdx.y * side + threadIdx.y; row < rows; row += row_stride) {
    for (std::int64_t column = blockIdx.x * side + threadIdx.x; column < columns; column += column_stride) {
      partial += values[row * pitch + column];
    }
  }
  const auto thread = static_cast<int>(threadIdx.x + side * threadIdx.y);
  of_thread[thread] = partial;
  __syncthreads();
  // exercise: tree
  for (int half = block_threads / 2; half > 0; half /= 2) {
    if (thread < half) of_thread[thread] += of_thread[thread + half];
    __syncthreads();
  }
  // end
  if (thread == 0) partials[blockIdx.y * gridDim.x + blockIdx.x] = of_thread[0];
}

__global__ void __launch_bounds__(block_threads)
    row_sums_kernel(const float* __restrict__ values, std::int64_t rows, std::int64_t columns,
                    std::int64_t pitch, float* __restrict__ sums) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (std::int64_t column = 0; column < columns; ++column) sum += values[row * pitch + column];
  sums[row] = sum;
}

__global__ void __launch_bounds__(block_threads)
    column_sums_kernel(const float* __restrict__ values, std::int64_t rows, std::int64_t columns,
                       std::int64_t pitch, float* __restrict__ sums) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (column >= columns) return;
  float sum = 0;
  for (std::int64_t row = 0; row < rows; ++row) sum += values[row * pitch + column];
  sums[column] = sum;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const dim3 threads(block_threads);
  if (in.result == result::rows) {
    lab::launch(row_sums_kernel, grid(parts(in.rows, block_threads)), threads, 0, stream, in.values, in.rows,
                in.columns, in.pitch, out.sums);
  } else if (in.result == result::columns) {
    lab::launch(column_sums_kernel, grid(parts(in.columns, block_threads)), threads, 0, stream, in.values,
                in.rows, in.columns, in.pitch, out.sums);
  } else {
    const std::int64_t blocks_x = std::clamp<std::int64_t>(parts(in.columns, side), 1, max_blocks);
    const std::int64_t blocks_y = std::clamp<std::int64_t>(parts(in.rows, side), 1, max_blocks);
    auto* partials = static_cast<float*>(scratch.data);
    lab::launch(total_kernel, grid(blocks_x, blocks_y), dim3(side, side), 0, stream, in.values, in.rows,
                in.columns, in.pitch, partials);
    lab::launch(total_kernel, dim3(1), dim3(side, side), 0, stream, partials, blocks_y, blocks_x, blocks_x,
                out.sums);
  }
}

// A value's longest way: everything in a row or column, or what a thread adds up and the tree, in both
// launches.
double relative_error(const problem::parameters& p) {
  if (problem::result_of(p) != result::total) return rounding_error(problem::cost(p));
  constexpr std::int64_t reach = side * max_blocks;
  return rounding_error(parts(p.rows, reach) * parts(p.columns, reach) + 8 + 16 + 8);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "16 x 16 blocks and a tree in shared memory; one thread per row or column",
     .launch = launch,
     .workspace_bytes =
         [](const problem::parameters&) { return std::size_t{max_blocks * max_blocks} * sizeof(float); },
     .tile = block_threads,
     .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction_2d::naive
