// The next row is on its way while this one is computed. Clusters stay, and go through the rows. As soon as a
// block has taken its part of a row out of shared memory into registers, the TMA copies that of its next row
// there. A multiprocessor has 128 KiB of values in registers, and as many on their way.
#include "common/bulk_copy.hpp"
#include "common/multiprocessors.hpp"
#include "stages/softmax/cluster_plan.hpp"

namespace lab::softmax::bulk_copy {
namespace {

template <int most_threads>
__global__ void __launch_bounds__(most_threads, 1024 / most_threads)
    softmax_kernel(const float* __restrict__ values, float* __restrict__ results, std::int64_t rows,
                   std::int64_t columns, std::int64_t part) {
  __shared__ row_state of_block[2];  // used in turn: one cluster barrier for each row
  __shared__ mbarrier full;
  auto* const next = dynamic_shared<float>();
  const std::int64_t begin = static_cast<std::int64_t>(cluster_rank()) * part;
  const auto length = static_cast<int>(min(part, columns - begin));
  const unsigned clusters = gridDim.x / cluster_blocks();
  std::int64_t row = blockIdx.x / cluster_blocks();
  if (threadIdx.x == 0) {
    full.initialise(1);
    fence_mbarrier_init();
    copy_in(next, values + row * columns + begin, length, full);
  }
  __syncthreads();
  for (unsigned turn = 0; row < rows; row += clusters, ++turn) {
    register_row<cluster_plan::vectors> own(static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x),
                                            true);
    full.wait(turn);
    own.load(next, length);
    __syncthreads();
    if (threadIdx.x == 0 && row + clusters < rows)
      copy_in(next, values + (row + clusters) * columns + begin, length, full);
    const float of_warp = warp_reduce(own.largest(), maximum<float>{});
    const row_state of_part = combine_threads({of_warp, own.to_exponentials(of_warp)});
    if (threadIdx.x == 0) of_block[turn % 2] = of_part;
    cluster_sync();
    const row_state all = combine_blocks(of_block[turn % 2]);
    own.store(results + row * columns + begin, length, factor_of(of_warp, all));
  }
  // No block may end, and its shared memory with it, while another still reads there.
  cluster_sync();
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.columns == 0) return;
  cluster_plan plan(in.columns);
  const bool is_small = plan.threads <= cluster_plan::small_threads;
  const std::int64_t at_once = std::int64_t{multiprocessors()} * (1024 / plan.threads) / plan.blocks;
  const auto clusters = static_cast<unsigned>(std::min(in.rows, std::max<std::int64_t>(1, at_once)));
  lab::launch_with(
      &plan.attribute, 1,
      is_small ? softmax_kernel<cluster_plan::small_threads> : softmax_kernel<cluster_plan::large_threads>,
      dim3(clusters * plan.blocks), dim3(static_cast<unsigned>(plan.threads)),
      static_cast<std::size_t>(plan.part) * sizeof(float), stream, in.values, out.results, in.rows,
      in.columns, plan.part);
}

std::string unsupported(const problem::parameters& p) {
  return p.columns % 4 == 0 ? cluster_plan::unsupported(p) : "columns must be a multiple of 4 (16 bytes)";
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the next row arrives in shared memory while this one is in registers",
     .launch = launch,
     .unsupported = unsupported,
     .relative_error = [](const problem::parameters&) { return rounding_error(32 + additions_in_block + 5); },
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::softmax::bulk_copy
