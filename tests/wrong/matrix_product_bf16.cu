// The track's wrong kernels, each to be refused for one mistake.
#include "stages/matrix_product_bf16/tiles.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::matrix_product_bf16::wrong {
namespace {

enum class mistake {
  rounds_sums,      // sums are bfloat16, too
  loses_last_step,  // where k is a multiple of 64
  transposes_b,     // units of 8 x 8 of B are read by their columns
  // Of tensor copies and warpgroups:
  no_wait_for_tiles,     // multiplies tiles that have not landed
  no_wait_for_products,  // has tiles overwritten while they are multiplied
  advances_elements,     // the next 16 of k are 32 bytes on, not 16
  short_by_a_box         // expects the bytes of A alone
};

template <mistake which>
__global__ void plain_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, std::int64_t m,
                             std::int64_t n, std::int64_t k) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  const std::int64_t row = i / n, column = i % n;
  const bool is_short = which == mistake::loses_last_step && k > depth && k % depth == 0;
  float sum = 0;
  for (std::int64_t j = 0; j < (is_short ? k - depth : k); ++j) {
    std::int64_t from_row = j, from_column = column;
    if (which == mistake::transposes_b && (j | 7) < k && (column | 7) < n) {
      from_row = j / 8 * 8 + column % 8;
      from_column = column / 8 * 8 + j % 8;
    }
    sum += __bfloat162float(a[row * k + j]) * __bfloat162float(b[from_row * n + from_column]);
    if (which == mistake::rounds_sums) sum = __bfloat162float(__float2bfloat16(sum));
  }
  c[i] = sum;
}

template <mistake which>
void launch_plain(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(plain_kernel<which>, dim3(static_cast<unsigned>(parts(in.m * in.n, 128))), dim3(128), 0, stream,
              in.a, in.b, out.c, in.m, in.n, in.k);
}

constexpr int columns = 64;

template <mistake which>
__global__ void __launch_bounds__(2 * group_threads)
    warpgroup_kernel(const __grid_constant__ lab::tensor_map a, const __grid_constant__ lab::tensor_map b,
                     float* c, std::int64_t m, std::int64_t n, std::int64_t k) {
  auto* const tiles = tensor_shared<unsigned char>();
  __shared__ mbarrier landed;
  const auto [row, column] = block_tile<tile_rows, columns>(n);
  const int group = static_cast<int>(threadIdx.x) / group_threads;
  if (threadIdx.x == 0) {
    landed.initialise(1);
    fence_mbarrier_init();
  }
  __syncthreads();
  float sum[columns / 2] = {};
  const auto steps = static_cast<int>(parts(k, depth));
  for (int step = 0; step < steps; ++step) {
    if (threadIdx.x == 0) {
      landed.arrive_expect_tx(which == mistake::short_by_a_box ? a_bytes : tile_bytes<columns>);
      tensor_copy_in(tiles, a, step * depth, row, landed);
      tensor_copy_in(tiles + a_bytes, b, column, step * depth, landed);
    }
    if (which != mistake::no_wait_for_tiles) landed.wait(static_cast<unsigned>(step));
    const matrix_descriptor of_a = make_matrix_descriptor(tiles + group * group_rows * line_bytes,
                                                          swizzle::bytes_128, line_bytes, eight_lines);
    const matrix_descriptor of_b =
        make_matrix_descriptor(tiles + a_bytes, swizzle::bytes_128, box_of_b_bytes, eight_lines);
    wgmma_fence(sum);
    for (int q = 0; q < depth; q += 16) {
      wgmma_m64k16<__nv_bfloat16, major::k, major::mn>(
          sum, of_a.advanced(which == mistake::advances_elements ? q : 2 * q), of_b.advanced(q * line_bytes),
          true);
    }
    wgmma_commit();
    if (which != mistake::no_wait_for_products) wgmma_wait<0>(sum);
    __syncthreads();
  }
  wgmma_wait<0>(sum);
  store<columns>(c, row + group * group_rows, column, m, n, sum);
}

template <mistake which>
void launch_warpgroups(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.m == 0 || in.n == 0) return;
  const auto [a, b] = make_maps(in);
  lab::launch(warpgroup_kernel<which>, grid_of<tile_rows, columns>(in), dim3(2 * group_threads),
              tile_bytes<columns>, stream, a, b, out.c, in.m, in.n, in.k);
}

template <mistake which>
stage<problem> plain(const char* idea) {
  return {.idea = idea, .launch = launch_plain<which>, .tile = 128};
}
template <mistake which>
stage<problem> warpgroups(const char* idea) {
  return {.idea = idea,
          .launch = launch_warpgroups<which>,
          .unsupported = unsupported<tile_rows, columns>,
          .tile = tile_rows * columns,
          .traits = {.minimum_compute_capability = 90}};
}

WRONG(rounds_sums, failure_kind::wrong, "wrong at index", plain<mistake::rounds_sums>("sums in bfloat16"));
WRONG(loses_last_step, failure_kind::wrong, "wrong at index",
      plain<mistake::loses_last_step>("leaves out the last step"));
WRONG(transposes_b, failure_kind::wrong, "wrong at index",
      plain<mistake::transposes_b>("reads units of B by columns"));
// By the order of the copies, one has not landed at the end, or the second step arrives in the first one's
// phase.
WRONG(no_wait_for_tiles, failure_kind::crash, on_emulator("tests/wrong/matrix_product_bf16.cu:6"),
      warpgroups<mistake::no_wait_for_tiles>("multiplies too early"));
WRONG(no_wait_for_products, failure_kind::wrong, on_emulator("wrong at index"),
      warpgroups<mistake::no_wait_for_products>("overwrites tiles too early"));
WRONG(advances_elements, failure_kind::wrong, on_emulator("wrong at index"),
      warpgroups<mistake::advances_elements>("counts elements where bytes are meant"));
WRONG(short_by_a_box, failure_kind::crash, on_emulator("waits for ever for phase 0"),
      warpgroups<mistake::short_by_a_box>("expects too few bytes"));

}  // namespace
}  // namespace lab::matrix_product_bf16::wrong
