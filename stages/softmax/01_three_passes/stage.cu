// A thread has a row, and goes through it three times: for the largest value, for the sum of exponentials,
// and for the results. Subtracting the largest value keeps every exponential at 1 or below.
#include "common/operations.hpp"
#include "stages/softmax/problem.hpp"

namespace lab::softmax::three_passes {
namespace {

constexpr int block_threads = 128;

template <class T>
__global__ void __launch_bounds__(block_threads)
    softmax_kernel(const T* __restrict__ values, T* __restrict__ results, std::int64_t rows,
                   std::int64_t columns) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (row >= rows) return;
  const T* const own = values + row * columns;
  float largest = -INFINITY;
  for (std::int64_t j = 0; j < columns; ++j) largest = maximum<float>{}(largest, own[j]);
  float sum = 0;
  for (std::int64_t j = 0; j < columns; ++j) sum += expf(own[j] - largest);
  for (std::int64_t j = 0; j < columns; ++j) results[row * columns + j] = expf(own[j] - largest) / sum;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_type(in, out, [&]<class T>(const T* values, T* results) {
    lab::launch(softmax_kernel<T>, dim3(static_cast<unsigned>(parts(in.rows, block_threads))),
                dim3(block_threads), 0, stream, values, results, in.rows, in.columns);
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a thread a row: three passes over it", .launch = launch}};

}  // namespace
}  // namespace lab::softmax::three_passes
