// A warp multiplies 16 x 16 tiles on a matrix unit, with the functions of nvcuda::wmma. It loads them from
// global memory, where four warps of a block share what they load with each other in the caches alone.
#include "common/matrix_units.hpp"
#include "stages/matrix_product_bf16/problem.hpp"

namespace lab::matrix_product_bf16::warp_tiles {
namespace {

constexpr int side = 16;
constexpr int warps_down = 4;  // of a block, one tile each
constexpr int block_threads = 32 * warps_down;

__global__ void __launch_bounds__(block_threads)
    product_kernel(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b,
                   float* __restrict__ c, std::int64_t m, std::int64_t n, std::int64_t k) {
  namespace wmma = nvcuda::wmma;
  const auto across = static_cast<unsigned>(n / side);
  const std::int64_t row = (static_cast<std::int64_t>(blockIdx.x / across) * warps_down + threadIdx.y) * side;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x % across) * side;
  if (row >= m) return;
  wmma::fragment<wmma::accumulator, side, side, side, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (std::int64_t begin = 0; begin < k; begin += side) {
    wmma::fragment<wmma::matrix_a, side, side, side, __nv_bfloat16, wmma::row_major> of_a;
    wmma::fragment<wmma::matrix_b, side, side, side, __nv_bfloat16, wmma::row_major> of_b;
    wmma::load_matrix_sync(of_a, a + row * k + begin, static_cast<unsigned>(k));
    wmma::load_matrix_sync(of_b, b + begin * n + column, static_cast<unsigned>(n));
    wmma::mma_sync(sum, of_a, of_b, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, static_cast<unsigned>(n), wmma::mem_row_major);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t down = (in.m / side + warps_down - 1) / warps_down;
  lab::launch(product_kernel, dim3(static_cast<unsigned>(down * (in.n / side))), dim3(32, warps_down), 0,
              stream, in.a, in.b, out.c, in.m, in.n, in.k);
}

// Fragments begin at multiples of 32 bytes, and lines are counted in 32 bits.
std::string unsupported(const problem::parameters& p) {
  if (p.m % side != 0 || p.n % side != 0 || p.k % side != 0) return "m, n and k must be multiples of 16";
  constexpr std::int64_t most = std::int64_t{1} << 31;
  return p.n >= most || p.k >= most || p.m / side >= most / (p.n / side + 1) ? "more than 2^31 tiles" : "";
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a tile of 16 x 16 for each warp, on a matrix unit",
                                        .launch = launch,
                                        .unsupported = unsupported,
                                        .tile = warps_down * side * side,
                                        .traits = {.minimum_compute_capability = 80}}};

}  // namespace
}  // namespace lab::matrix_product_bf16::warp_tiles
