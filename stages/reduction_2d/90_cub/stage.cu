// The library's solutions: cub::DeviceSegmentedReduce with one segment for each row, padded or not, and
// cub::DeviceReduce for the total of an array without padding. CUB has no reduction for columns, whose values
// are not neighbours in memory.
#include "stages/reduction_2d/problem.hpp"

#if !LAB_EMULATED
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#endif

#include <cmath>

namespace lab::reduction_2d::cub_reduce {
namespace {

#if !LAB_EMULATED

// Where segment `row` begins or ends.
struct row_offset {
  std::int64_t pitch;
  std::int64_t column;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * pitch + column; }
};

void reduce(void* scratch, std::size_t& bytes, const input& in, float* sums, cudaStream_t stream) {
  if (in.result == result::total) {
    CUDA_CHECK(cub::DeviceReduce::Sum(scratch, bytes, in.values, sums, in.rows * in.columns, stream));
    return;
  }
  const thrust::counting_iterator<std::int64_t> row(0);
  CUDA_CHECK(cub::DeviceSegmentedReduce::Sum(
      scratch, bytes, in.values, sums, in.rows, thrust::make_transform_iterator(row, row_offset{in.pitch, 0}),
      thrust::make_transform_iterator(row, row_offset{in.pitch, in.columns}), stream));
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.result == result::rows && in.rows == 0) return;
  reduce(scratch.data, scratch.bytes, in, out.sums, stream);
}

std::size_t workspace_bytes(const problem::parameters& p) {
  std::size_t bytes = 0;
  reduce(nullptr, bytes, problem::bind_input(p, nullptr), nullptr, nullptr);
  return bytes;
}

#endif

std::string unsupported(const problem::parameters& p) {
  if (problem::result_of(p) == result::columns) return "the library has no sums of columns";
  if (problem::result_of(p) == result::total && problem::pitch_of(p) != p.columns) {
    return "the library's sum of all needs rows without padding";
  }
  return "";
}

// The library does not say how high its tree is; with 256 threads to a segment it is less than this, and for
// the sum of all, which fills the device, far less.
double relative_error(const problem::parameters& p) {
  const auto n = static_cast<double>(problem::cost(p));
  return rounding_error(64 + static_cast<std::int64_t>(std::max(2 * std::sqrt(n), n / 256)));
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "cub::DeviceSegmentedReduce for rows, cub::DeviceReduce for the sum of all",
     .launch = LAB_GPU_ONLY(launch),
     .workspace_bytes = LAB_GPU_ONLY(workspace_bytes),
     .unsupported = unsupported,
     .tile = 4096,
     .relative_error = relative_error,
     .traits = {.gpu_only = true, .library = true}}};

}  // namespace
}  // namespace lab::reduction_2d::cub_reduce
