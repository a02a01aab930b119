// Takes the pitch for the number of columns, and sums up the padding of each row.
#include "tests/wrong/reduction_2d/right.hpp"

namespace lab::reduction_2d::wrong {
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

const registration<problem> registered{LAB_PATH,
                                       {.idea = "sums padding",
                                        .launch = launch,
                                        .unsupported = rows_and_columns_only,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::reduction_2d::wrong
