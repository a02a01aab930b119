// A cluster of up to eight blocks has a row, each block a part of it in registers. Blocks tell each other
// maximum and sum of their parts through distributed shared memory. A row has up to 262 144 values; and of
// rows of 32 768 values, four blocks of 256 threads share a multiprocessor, instead of one of 1024.
#include "stages/softmax/cluster_plan.hpp"

namespace lab::softmax::cluster_a_row {
namespace {

constexpr int each = 32;            // values of a thread
constexpr int small_threads = 256;  // of a block, as long as eight of them suffice
constexpr int large_threads = 1024;

template <int most_threads, class T>
__global__ void __launch_bounds__(most_threads)
    softmax_kernel(const T* __restrict__ values, T* __restrict__ results, std::int64_t columns,
                   std::int64_t part) {
  __shared__ row_state of_block;
  const std::int64_t begin = static_cast<std::int64_t>(cluster_rank()) * part;
  const std::int64_t length = min(part, columns - begin);
  const std::int64_t first = blockIdx.x / cluster_blocks() * columns + begin;
  register_row<T, each> row(static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x), columns);
  row.load(values + first, length);
  const float of_warp = warp_reduce(row.largest(), maximum<float>{});
  const row_state of_part = combine_threads({of_warp, row.to_exponentials(of_warp)});
  if (threadIdx.x == 0) of_block = of_part;
  cluster_sync();
  const row_state all = combine_blocks(of_block);
  // No block may end, and its shared memory with it, while another still reads there.
  cluster_arrive();
  row.store(results + first, length, factor_of(of_warp, all));
  cluster_wait();
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.columns == 0) return;
  cluster_plan plan(in.columns, each * small_threads);
  const int threads = threads_for(plan.part, each);
  with_type(in, out, [&]<class T>(const T* values, T* results) {
    lab::launch_with(
        &plan.attribute, 1,
        threads <= small_threads ? softmax_kernel<small_threads, T> : softmax_kernel<large_threads, T>,
        dim3(static_cast<unsigned>(in.rows) * plan.blocks), dim3(static_cast<unsigned>(threads)), 0, stream,
        values, results, in.columns, plan.part);
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a cluster has a row, each of its blocks a part",
     .launch = launch,
     .unsupported = cluster_plan::unsupported,
     .relative_error =
         [](const problem::parameters& p) { return rounding_error(p, 32 + additions_in_block + 5); },
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::softmax::cluster_a_row
