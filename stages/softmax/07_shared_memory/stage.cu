// A row's part lies in registers and in shared memory: a thread keeps 16 values, and the TMA copies the rest,
// up to 24 576 values of a block, while the threads load theirs. A multiprocessor then has two blocks with
// 32 768 values each: one computes, or waits for its cluster, while the other loads or stores.
#include "common/bulk_copy.hpp"
#include "stages/softmax/cluster_plan.hpp"

namespace lab::softmax::shared_memory {
namespace {

constexpr int most_threads = 512;
constexpr int vectors = 4;  // a thread's, in registers
constexpr int most_part = 32'768;
constexpr int most_chunks = most_part / (4 * most_threads) - vectors;  // of a vector a thread: 12

// What of the part does not fit into registers.
__host__ __device__ constexpr int rest_of(int length, int threads) {
  const int kept = 4 * vectors * threads;
  return length > kept ? length - kept : 0;
}

__global__ void __launch_bounds__(most_threads, 2)
    softmax_kernel(const float* __restrict__ values, float* __restrict__ results, std::int64_t columns,
                   std::int64_t part) {
  auto* const shared = dynamic_shared<float4>();
  __shared__ row_state of_block;
  __shared__ mbarrier landed[most_chunks];
  const std::int64_t begin = static_cast<std::int64_t>(cluster_rank()) * part;
  const auto length = static_cast<int>(min(part, columns - begin));
  const std::int64_t first = blockIdx.x / cluster_blocks() * columns + begin;
  const auto threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
  const int rest = rest_of(length, threads), chunk = 4 * threads;
  const std::int64_t first_of_rest = first + length - rest;
  if (thread == 0 && rest > 0) {
    for (mbarrier& one : landed) one.initialise(1);
    fence_mbarrier_init();
    for (int at = 0; at < rest; at += chunk)
      copy_in(reinterpret_cast<float*>(shared) + at, values + first_of_rest + at, min(chunk, rest - at),
              landed[at / chunk]);
  }
  register_row<vectors> row(thread, threads, true);
  row.load(values + first, length);
  __syncthreads();
  float largest = row.largest();
  for (int v = thread, c = 0; 4 * v < rest; v += threads, ++c) {
    landed[c].wait(0);
    const float4 four = shared[v];
    for (const float x : {four.x, four.y, four.z, four.w}) largest = maximum<float>{}(largest, x);
  }
  const float of_warp = warp_reduce(largest, maximum<float>{});
  const float shift = shift_of(of_warp);
  float sum = row.to_exponentials(of_warp);
#pragma unroll 4
  for (int v = thread; 4 * v < rest; v += threads) {
    float4 four = shared[v];
    four =
        make_float4(expf(four.x - shift), expf(four.y - shift), expf(four.z - shift), expf(four.w - shift));
    sum += four.x + four.y + four.z + four.w;
    shared[v] = four;
  }
  const row_state of_part = combine_threads({of_warp, sum});
  if (thread == 0) of_block = of_part;
  cluster_sync();
  const float factor = factor_of(of_warp, combine_blocks(of_block));
  // No block may end, and its shared memory with it, while another still reads there.
  cluster_arrive();
  row.store(results + first, length, factor);
#pragma unroll 4
  for (int v = thread; 4 * v < rest; v += threads) {
    const float4 four = shared[v];
    __stcs(reinterpret_cast<float4*>(results + first_of_rest) + v,
           make_float4(four.x * factor, four.y * factor, four.z * factor, four.w * factor));
  }
  cluster_wait();
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.columns == 0) return;
  cluster_plan plan(in.columns, most_part);
  const int threads = std::min(most_threads, threads_for(plan.part, 4 * vectors));
  lab::launch_with(&plan.attribute, 1, softmax_kernel, dim3(static_cast<unsigned>(in.rows) * plan.blocks),
                   dim3(static_cast<unsigned>(threads)),
                   static_cast<std::size_t>(rest_of(static_cast<int>(plan.part), threads)) * sizeof(float),
                   stream, in.values, out.results, in.columns, plan.part);
}

std::string unsupported(const problem::parameters& p) {
  return p.columns % 4 == 0 ? cluster_plan::unsupported(p) : "columns must be a multiple of 4 (16 bytes)";
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a part in registers and in shared memory: two blocks a multiprocessor",
     .launch = launch,
     .unsupported = unsupported,
     .relative_error = [](const problem::parameters&) { return rounding_error(64 + additions_in_block + 5); },
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::softmax::shared_memory
