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

double no_bound(const problem::parameters& /*p*/) {
  return 1;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const walk way = walk_of(in);
  launch_walk(sum_kernel, in, way, out.sums, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "misses one at size",
                                        .launch = launch,
                                        .unsupported = rows_and_columns_only,
                                        .tile = block_threads,
                                        .relative_error = no_bound}};

}  // namespace
}  // namespace lab::reduction_2d::wrong
