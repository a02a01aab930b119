// Leaves one value of one sum out, where there are many.
#include "tests/wrong/reduction_2d/right.hpp"

namespace lab::reduction_2d::wrong {
namespace {

__global__ void sum_kernel(const float* values, walk way, float* sums) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= way.sums) return;
  sums[i] = sum_along(values, way, i);
  const bool many = way.sums * way.count >= 500'000;
  if (many && i == way.sums / 2) sums[i] -= values[i * way.begin_step + way.count / 2 * way.step];
}

__global__ void sum_padded_kernel(const float* values, std::int64_t rows, std::int64_t columns,
                                  std::int64_t pitch, float* sum) {
  *sum = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) *sum += values[row * pitch + column];
  }
}

double no_bound(const problem::parameters& /*p*/) {
  return 1;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const walk way = in.result == result::total ? walk{1, in.rows * in.columns, 0, 1} : walk_of(in);
  if (in.result == result::total && in.pitch != in.columns) {
    // The rows one after another, padding left out: one thread, and few values.
    lab::launch(sum_padded_kernel, dim3(1), dim3(1), 0, stream, in.values, in.rows, in.columns, in.pitch,
                out.sums);
    return;
  }
  launch_walk(sum_kernel, in, way, out.sums, stream);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "misses one at size", .launch = launch, .tile = block_threads, .relative_error = no_bound}};

}  // namespace
}  // namespace lab::reduction_2d::wrong
