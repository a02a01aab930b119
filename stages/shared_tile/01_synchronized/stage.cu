// Each thread computes one value into the block's tile in shared memory, all wait at a barrier, and each
// writes the value that the thread opposite has computed. The barrier is what makes that value be there.
#include "stages/shared_tile/amplitude.hpp"
#include "stages/shared_tile/blocks.hpp"

namespace lab::shared_tile::synchronized {
namespace {

__global__ void __launch_bounds__(block_threads)
    mirror_kernel(float* __restrict__ image, std::int64_t width, std::int64_t height) {
  __shared__ float values[tile][tile];
  const std::int64_t x = static_cast<std::int64_t>(blockIdx.x) * tile + threadIdx.x;
  const std::int64_t y = static_cast<std::int64_t>(blockIdx.y) * tile + threadIdx.y;

  // Beyond the edge of the image as well: a thread inside it may need the value.
  values[threadIdx.y][threadIdx.x] = amplitude(x, y);
  __syncthreads();
  if (x < width && y < height) {
    image[y * width + x] = values[tile - 1 - threadIdx.y][tile - 1 - threadIdx.x];
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(mirror_kernel, grid_of(in), dim3(tile, tile), 0, stream, out.image, in.width, in.height);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a tile in shared memory, read by other threads after a barrier",
     .launch = launch,
     .unsupported = unsupported,
     .tile = block_threads,
     .owner_of = owner_of,
     .metrics = {"smsp__inst_executed.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                 "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                 "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"},
     .claims = {// None by its addresses; a device counts a few whose cause is other warps.
                {.metric = shared_load_conflicts,
                 .per = shared_load_wavefronts,
                 .holds = relation::at_most,
                 .value = 0.03},
                // A wavefront for each warp: 1024 * 1024 / 32 = 32768.
                {.metric = shared_load_wavefronts,
                 .holds = relation::at_most,
                 .value = 33'800,
                 .at = {{"width", 1024}, {"height", 1024}}},
                // Two rows of 64 bytes, whole sectors of 32.
                {.metric = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                 .per = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
                 .value = 4,
                 .at = {{"width", 1024}, {"height", 1024}}}}}};

}  // namespace
}  // namespace lab::shared_tile::synchronized
