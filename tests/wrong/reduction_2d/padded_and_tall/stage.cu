// Leaves the last row out of columns that are long where rows are padded.
#include "tests/wrong/reduction_2d/right.hpp"

namespace lab::reduction_2d::wrong {
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

const registration<problem> registered{LAB_PATH,
                                       {.idea = "padded and tall",
                                        .launch = launch,
                                        .unsupported = rows_and_columns_only,
                                        .tile = block_threads}};

}  // namespace
}  // namespace lab::reduction_2d::wrong
