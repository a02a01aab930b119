// Drops NaN among the values of a row that fill no vector.
#include "tests/wrong/reduction_2d/right.hpp"

namespace lab::reduction_2d::wrong {
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

const registration<problem> registered{LAB_PATH,
                                       {.idea = "drops NaN of the tail",
                                        .launch = launch,
                                        .unsupported = rows_and_columns_only,
                                        .tile = block_threads}};

}  // namespace
}  // namespace lab::reduction_2d::wrong
