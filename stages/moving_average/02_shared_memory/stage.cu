// The block first copies its tile and the halo of window - 1 inputs before it into shared memory, each once;
// then every thread adds up its window from there. Global memory is read (block_threads + window - 1) /
// block_threads times.
#include "stages/moving_average/problem.hpp"

namespace lab::moving_average::shared_memory {
namespace {

constexpr int block_threads = 128;

constexpr std::size_t shared_bytes(std::int64_t window) {
  return static_cast<std::size_t>(block_threads + window - 1) * sizeof(double);
}

__global__ void __launch_bounds__(block_threads)
    moving_average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                          std::int64_t window) {
  // tile[k] holds input first - halo + k.
  double* tile = dynamic_shared<double>();
  const std::int64_t halo = window - 1;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_threads;
  for (std::int64_t k = threadIdx.x; k < block_threads + halo; k += block_threads) {
    const std::int64_t j = first - halo + k;
    tile[k] = j >= 0 && j < n ? values[j] : 0.0;
  }
  __syncthreads();

  const std::int64_t i = first + threadIdx.x;
  if (i >= n) return;
  if (i < halo) {
    averages[i] = incomplete;
    return;
  }
  double sum = 0;
  for (std::int64_t k = threadIdx.x; k <= threadIdx.x + halo; ++k) sum += tile[k];
  averages[i] = sum / static_cast<double>(window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(moving_average_kernel, dim3(blocks), dim3(block_threads), shared_bytes(in.window), stream,
              in.values, out.averages, in.n, in.window);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the block's tile and its halo are read once, into shared memory",
     .launch = launch,
     .unsupported =
         [](const problem::parameters& p) { return halo_too_long(p, block_threads, sizeof(double)); },
     .tile = block_threads,
     .owner_of = consecutive_owner<block_threads, 1>,
     .metrics = {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                 "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                 "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "smsp__inst_executed.sum"},
     .claims = {
         // (128 + 299) / 128 loads per output instead of 300, and a few for the ends of an unrolled loop.
         {.metric = load_requests,
          .over_previous = true,
          .holds = relation::at_most,
          .value = 0.015,
          .at = {{"n", 100'000}, {"window", 300}}},
         // None by its addresses; a device counts a few whose cause is other warps.
         {.metric = shared_load_conflicts,
          .per = shared_load_wavefronts,
          .holds = relation::at_most,
          .value = 0.01,
          .at = {{"n", 100'000}, {"window", 300}}},
         // A modest factor: the sum still reads `window` values an output.
         {.metric = speed_up_metric,
          .holds = relation::at_least,
          .value = 1.2,
          .at = {{"n", 1'000'000'000}, {"window", 300}},
          .device = "H200"},
         {.metric = speed_up_metric,
          .holds = relation::at_least,
          .value = 1.3,
          .at = {{"n", 1'000'000'000}, {"window", 3000}},
          .device = "H200"},
         {.metric = speed_up_metric,
          .holds = relation::at_most,
          .value = 2.5,
          .at = {{"n", 1'000'000'000}, {"window", 3000}},
          .device = "H200"}}}};

}  // namespace
}  // namespace lab::moving_average::shared_memory
