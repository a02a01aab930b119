// The row stays in registers: each thread loads its 16 or 32 values at once, in vectors of 16 bytes, and
// keeps their exponentials until the sum is known. Values are read once, and each exponential is computed
// once.
#include "stages/softmax/register_row.hpp"

namespace lab::softmax::in_registers {
namespace {

constexpr int most_threads = 256;
constexpr int most_columns = 32 * most_threads;  // 8192

template <int each, class T>
__global__ void __launch_bounds__(most_threads)
    softmax_kernel(const T* __restrict__ values, T* __restrict__ results, std::int64_t columns) {
  register_row<T, each> row(static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x), columns);
  row.load(values + blockIdx.x * columns, columns);
  // exercise: combine
  const float of_warp = warp_reduce(row.largest(), maximum<float>{});
  const row_state all = combine_threads({of_warp, row.to_exponentials(of_warp)});
  row.store(results + blockIdx.x * columns, columns, factor_of(of_warp, all));
  // end
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.columns == 0) return;
  with_type(in, out, [&]<class T>(const T* values, T* results) {
    const bool is_short = in.columns <= most_columns / 2;
    lab::launch(is_short ? softmax_kernel<16, T> : softmax_kernel<32, T>,
                dim3(static_cast<unsigned>(in.rows)),
                dim3(static_cast<unsigned>(threads_for(in.columns, is_short ? 16 : 32))), 0, stream, values,
                results, in.columns);
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a row stays in registers: read once",
     .launch = launch,
     .unsupported = [](const problem::parameters& p) -> std::string {
       return p.columns <= most_columns ? "" : "columns must be at most 8192: more do not fit into registers";
     },
     .relative_error =
         [](const problem::parameters& p) { return rounding_error(p, 32 + additions_in_block); }}};

}  // namespace
}  // namespace lab::softmax::in_registers
