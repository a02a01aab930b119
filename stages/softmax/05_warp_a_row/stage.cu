// A warp has a row, or several short ones: 1 to 32 lanes have a row, with 16 or 32 values each. They need no
// shared memory and no barrier, and every lane has 64 bytes or more on their way, however short a row is.
#include <bit>

#include "stages/softmax/register_row.hpp"

namespace lab::softmax::warp_a_row {
namespace {

constexpr int block_threads = 128;
constexpr int most_columns = 32 * 32;  // 1024

// The combination of the `lanes` lanes that have a row, in each of them.
template <class Operation>
__device__ __forceinline__ float combine_group(float value, int lanes, Operation combine) {
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}

template <int each, class T>
__global__ void __launch_bounds__(block_threads)
    softmax_kernel(const T* __restrict__ values, T* __restrict__ results, std::int64_t rows,
                   std::int64_t columns, int lanes) {
  const std::int64_t group = (static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x) / lanes;
  const std::int64_t length = group < rows ? columns : 0;
  register_row<T, each> row(static_cast<int>(threadIdx.x) % lanes, lanes, columns);
  row.load(values + group * columns, length);
  const float largest = combine_group(row.largest(), lanes, maximum<float>{});
  const float all = combine_group(row.to_exponentials(largest), lanes, sum<float>{});
  row.store(results + group * columns, length, 1 / all);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.columns == 0) return;
  const auto pieces = static_cast<unsigned>(parts(in.columns, 16));
  const int lanes = static_cast<int>(std::min(std::bit_ceil(pieces), 32u));
  with_type(in, out, [&]<class T>(const T* values, T* results) {
    lab::launch(in.columns <= 16 * 32 ? softmax_kernel<16, T> : softmax_kernel<32, T>,
                dim3(static_cast<unsigned>(parts(in.rows, block_threads / lanes))), dim3(block_threads), 0,
                stream, values, results, in.rows, in.columns, lanes);
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a warp has a row, or several short ones: no barrier",
     .launch = launch,
     .unsupported = [](const problem::parameters& p) -> std::string {
       return p.columns <= most_columns ? "" : "columns must be at most 1024, 32 for each lane";
     },
     .relative_error = [](const problem::parameters& p) { return rounding_error(p, 32 + 5); }}};

}  // namespace
}  // namespace lab::softmax::warp_a_row
