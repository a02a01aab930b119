// One thread doubles one element. Neighbouring threads touch neighbouring elements, so a warp's 32 accesses
// of 8 bytes are 8 full sectors of 32 bytes: nothing is moved in vain. The grid is as large as the array.
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::naive {
namespace {

constexpr int block_threads = 128;

__global__ void __launch_bounds__(block_threads)
    double_kernel(const double* __restrict__ values, double* __restrict__ doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i] = 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "one thread per element",
     .launch = launch,
     .tile = block_threads,
     .owner_of = consecutive_owner<block_threads, 1>,
     .metrics = {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                 "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                 "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
                 "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
     .claims = {// 32 neighbours of 8 bytes are 8 sectors.
                {.metric = load_sectors, .per = load_requests, .value = 8, .at = {{"n", 1 << 20}}},
                {.metric = store_sectors, .per = store_requests, .value = 8, .at = {{"n", 1 << 20}}},
                // Coalesced, but too few bytes in flight for all of it.
                {.metric = speed_of_light_metric,
                 .holds = relation::at_least,
                 .value = 70,
                 .at = {{"n", 1'000'000'000}},
                 .device = "H200"},
                {.metric = speed_of_light_metric,
                 .holds = relation::at_most,
                 .value = 90,
                 .at = {{"n", 1'000'000'000}},
                 .device = "H200"}}}};

}  // namespace
}  // namespace lab::elementwise::naive
