// Maximum and sum in one pass: when a thread meets a larger value, it scales the sum that it has
// (row_state.hpp). The row is read twice instead of three times.
#include "stages/softmax/problem.hpp"
#include "stages/softmax/row_state.hpp"

namespace lab::softmax::online {
namespace {

constexpr int block_threads = 256;

template <class T>
__global__ void __launch_bounds__(block_threads)
    softmax_kernel(const T* __restrict__ values, T* __restrict__ results, std::int64_t columns) {
  const T* const row = values + blockIdx.x * columns;
  row_state own;
  for (std::int64_t j = threadIdx.x; j < columns; j += block_threads) append(own, row[j]);
  const row_state all = combine_threads(own);
  for (std::int64_t j = threadIdx.x; j < columns; j += block_threads)
    results[blockIdx.x * columns + j] = expf(row[j] - shift_of(all.maximum)) / all.sum;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.columns == 0) return;
  with_type(in, out, [&]<class T>(const T* values, T* results) {
    lab::launch(softmax_kernel<T>, dim3(static_cast<unsigned>(in.rows)), dim3(block_threads), 0, stream,
                values, results, in.columns);
  });
}

// With each value of a thread the maximum may change.
double relative_error(const problem::parameters& p) {
  return rounding_error(p, 6 * parts(p.columns, block_threads) + additions_in_block);
}

const registration<problem> registered{
    LAB_PATH, {.idea = "maximum and sum in one pass", .launch = launch, .relative_error = relative_error}};

}  // namespace
}  // namespace lab::softmax::online
