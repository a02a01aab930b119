// A block has a row. Its threads read neighbouring values, so that requests are coalesced, and put their
// maxima and sums together.
#include "common/block_reduce.hpp"
#include "common/operations.hpp"
#include "stages/softmax/problem.hpp"

namespace lab::softmax::block_a_row {
namespace {

constexpr int block_threads = 256;

// block_reduce(), for every thread.
template <class Operation>
__device__ float combine_threads(float value, Operation combine) {
  __shared__ float all;
  value = block_reduce<block_threads>(value, combine);
  if (threadIdx.x == 0) all = value;
  __syncthreads();
  return all;
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    softmax_kernel(const T* __restrict__ values, T* __restrict__ results, std::int64_t columns) {
  const T* const row = values + blockIdx.x * columns;
  float largest = -INFINITY;
  for (std::int64_t j = threadIdx.x; j < columns; j += block_threads)
    largest = maximum<float>{}(largest, row[j]);
  largest = combine_threads(largest, maximum<float>{});
  float total = 0;
  for (std::int64_t j = threadIdx.x; j < columns; j += block_threads) total += expf(row[j] - largest);
  total = combine_threads(total, sum<float>{});
  for (std::int64_t j = threadIdx.x; j < columns; j += block_threads)
    results[blockIdx.x * columns + j] = expf(row[j] - largest) / total;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.columns == 0) return;
  with_type(in, out, [&]<class T>(const T* values, T* results) {
    lab::launch(softmax_kernel<T>, dim3(static_cast<unsigned>(in.rows)), dim3(block_threads), 0, stream,
                values, results, in.columns);
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a block a row: neighbouring threads read neighbouring values",
     .launch = launch,
     .relative_error = [](const problem::parameters& p) {
       return rounding_error(p, parts(p.columns, block_threads) + 10);
     }}};

}  // namespace
}  // namespace lab::softmax::block_a_row
