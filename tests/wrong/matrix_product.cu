// The track's wrong kernels, each to be refused for one mistake.
#include "stages/matrix_product/blocks.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::matrix_product::wrong {
namespace {

constexpr int tile = 16;

enum class mistake {
  missing_barrier,  // a tile is overwritten while others still multiply it
  stale_beyond_k,   // beyond k, the tiles hold what they held before
  writes_row_m,     // one row too many where the last tile is ragged
  transposes_b,     // B's tile is read by its columns
  loses_last_tile,  // where k is a multiple of the tile
  multiplies_tf32,  // of each factor 10 bits of its fraction
  skips_zeros,      // of A: 0 * Inf is NaN
  repeats_last      // beyond k the last element of A's row, times 0: NaN, where that is Inf
};

// What the tensor cores take of a float32.
__device__ float tf32(float value) {
  return __builtin_bit_cast(float, __builtin_bit_cast(unsigned, value) & 0xffffe000u);
}

template <mistake which>
__global__ void __launch_bounds__(tile* tile)
    product_kernel(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n, std::int64_t k) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  const auto x = static_cast<int>(threadIdx.x);
  const auto y = static_cast<int>(threadIdx.y);
  const position first = block_tile<tile, tile>(n);
  const std::int64_t row = first.row + y;
  const std::int64_t column = first.column + x;
  const bool is_short = which == mistake::loses_last_tile && k > tile && k % tile == 0;
  float sum = 0;
  for (std::int64_t begin = 0; begin < (is_short ? k - tile : k); begin += tile) {
    const bool keeps = which == mistake::stale_beyond_k && begin > 0;
    if (!keeps || begin + x < k) a_tile[y][x] = row < m && begin + x < k ? a[row * k + begin + x] : 0;
    if (which == mistake::repeats_last && row < m && begin + x >= k) a_tile[y][x] = a[row * k + k - 1];
    if (!keeps || begin + y < k) b_tile[y][x] = begin + y < k && column < n ? b[(begin + y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < tile; ++i) {
      const float of_a = a_tile[y][i];
      const float of_b = which == mistake::transposes_b ? b_tile[x][i] : b_tile[i][x];
      if (which == mistake::skips_zeros && of_a == 0) continue;
      sum += which == mistake::multiplies_tf32 ? tf32(of_a) * tf32(of_b) : of_a * of_b;
    }
    if (which != mistake::missing_barrier) __syncthreads();
  }
  if (row < m + (which == mistake::writes_row_m ? 1 : 0) && column < n) c[row * n + column] = sum;
}

template <mistake which>
void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(product_kernel<which>, grid_of<tile, tile>(in), dim3(tile, tile), 0, stream, in.a, in.b, out.c,
              in.m, in.n, in.k);
}

// Two tiles of each matrix in turn, and nobody waits for the other threads' elements of the next ones.
__global__ void __launch_bounds__(tile* tile)
    early_kernel(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n, std::int64_t k) {
  __shared__ float a_tile[2][tile][tile];
  __shared__ float b_tile[2][tile][tile];
  const auto x = static_cast<int>(threadIdx.x);
  const auto y = static_cast<int>(threadIdx.y);
  const position first = block_tile<tile, tile>(n);
  const std::int64_t row = first.row + y;
  const std::int64_t column = first.column + x;
  const auto load = [&](int to, std::int64_t begin) {
    a_tile[to][y][x] = row < m && begin + x < k ? a[row * k + begin + x] : 0;
    b_tile[to][y][x] = begin + y < k && column < n ? b[(begin + y) * n + column] : 0;
  };
  float sum = 0;
  int current = 0;
  load(0, 0);
  __syncthreads();
  for (std::int64_t begin = 0; begin < k; begin += tile) {
    load(1 - current, begin + tile);
    for (int i = 0; i < tile; ++i) sum += a_tile[current][y][i] * b_tile[current][i][x];
    current = 1 - current;
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

void launch_early(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(early_kernel, grid_of<tile, tile>(in), dim3(tile, tile), 0, stream, in.a, in.b, out.c, in.m,
              in.n, in.k);
}

stage<problem> described(const char* idea, launch_of<problem>::type launch) {
  return {.idea = idea, .launch = launch, .tile = tile * tile};
}

WRONG(missing_barrier, failure_kind::wrong, on_emulator("m=67 n=131"),
      described("no barrier behind the product", launch<mistake::missing_barrier>));
WRONG(stale_beyond_k, failure_kind::wrong, "k=45 m=67 n=131",
      described("no zeros beyond k", launch<mistake::stale_beyond_k>));
WRONG(writes_row_m, failure_kind::out_of_bounds, emulated ? "writes at offset" : "a write to",
      described("a row too many", launch<mistake::writes_row_m>));
WRONG(transposes_b, failure_kind::wrong, "k=45 m=67 n=131",
      described("B's tile transposed", launch<mistake::transposes_b>));
WRONG(loses_last_tile, failure_kind::wrong, "k=32 m=128 n=128",
      described("loses the last tile", launch<mistake::loses_last_tile>));
WRONG(multiplies_tf32, failure_kind::wrong, "input=random",
      described("multiplies in TF32", launch<mistake::multiplies_tf32>));
WRONG(skips_zeros, failure_kind::wrong, "expected nan ... input=zeros and Inf",
      described("skips zeros of A", launch<mistake::skips_zeros>));
WRONG(repeats_last, failure_kind::wrong, "expected inf, found nan",
      described("an element again, times zeros", launch<mistake::repeats_last>));
WRONG(reads_before_landed, std::nullopt, on_emulator("m=67 n=131"),
      described("reads tiles before they are there", launch_early));

}  // namespace
}  // namespace lab::matrix_product::wrong
