// A row's part lies in registers and in shared memory: a thread keeps 16 values, and the TMA copies the rest,
// up to 24 576 values of a block, while the threads load theirs. A multiprocessor then has two blocks with
// 32 768 values each, or three of bfloat16: one computes, or waits for its cluster, while others load or
// store.
#include "common/bulk_copy.hpp"
#include "stages/softmax/cluster_plan.hpp"

namespace lab::softmax::shared_memory {
namespace {

constexpr int most_threads = 512;
constexpr int each = 16;  // values of a thread in registers
constexpr int most_part = 32'768;

// What of the part does not fit into registers.
__host__ __device__ constexpr int rest_of(int length, int threads) {
  return length > each * threads ? length - each * threads : 0;
}

template <class T>
__global__ void __launch_bounds__(most_threads, sizeof(T) == 2 ? 3 : 2)
    softmax_kernel(const T* __restrict__ values, T* __restrict__ results, std::int64_t columns,
                   std::int64_t part) {
  // A chunk is a vector of each thread.
  constexpr int most_chunks = rest_of(most_part, most_threads) / (vector_values<T> * most_threads);
  auto* const shared = dynamic_shared<T>();
  __shared__ row_state of_block;
  __shared__ mbarrier landed[most_chunks];
  const std::int64_t begin = static_cast<std::int64_t>(cluster_rank()) * part;
  const auto length = static_cast<int>(min(part, columns - begin));
  const std::int64_t first = blockIdx.x / cluster_blocks() * columns + begin;
  const auto threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
  const int rest = rest_of(length, threads), chunk = vector_values<T> * threads;
  const int own = vector_values<T> * thread;
  const std::int64_t first_of_rest = first + length - rest;
  if (thread == 0 && rest > 0) {
    for (mbarrier& one : landed) one.initialise(1);
    fence_mbarrier_init();
    for (int at = 0; at < rest; at += chunk)
      copy_in(shared + at, values + first_of_rest + at, min(chunk, rest - at), landed[at / chunk]);
  }
  register_row<T, each> row(thread, threads, columns);
  row.load(values + first, length);
  __syncthreads();
  float vector[vector_values<T>];
  float largest = row.largest();
  for (int at = own, c = 0; at < rest; at += chunk, ++c) {
    landed[c].wait(0);
    read_vector(shared + at, vector);
    for (const float x : vector) largest = maximum<float>{}(largest, x);
  }
  const float of_warp = warp_reduce(largest, maximum<float>{});
  const float shift = shift_of(of_warp);
  float sum = row.to_exponentials(of_warp);
#pragma unroll 4
  for (int at = own; at < rest; at += chunk) {
    read_vector(shared + at, vector);
    for (const float x : vector) sum += expf(x - shift);
  }
  const row_state of_part = combine_threads({of_warp, sum});
  if (thread == 0) of_block = of_part;
  cluster_sync();
  const float factor = factor_of(of_warp, combine_blocks(of_block));
  // No block may end, and its shared memory with it, while another still reads there.
  cluster_arrive();
  row.store(results + first, length, factor);
#pragma unroll 4
  for (int at = own; at < rest; at += chunk) {
    read_vector(shared + at, vector);
    for (float& x : vector) x = expf(x - shift);
    __stcs(reinterpret_cast<uint4*>(results + first_of_rest + at), words_of<T>(vector, factor));
  }
  cluster_wait();
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.columns == 0) return;
  cluster_plan plan(in.columns, most_part);
  const int threads = std::min(most_threads, threads_for(plan.part, each));
  const auto rest = static_cast<std::size_t>(rest_of(static_cast<int>(plan.part), threads));
  // Beyond 48 KiB launch_with() raises the kernel's limit, to which its static memory counts as well.
  constexpr std::size_t least = 49 * 1024;
  with_type(in, out, [&]<class T>(const T* values, T* results) {
    lab::launch_with(&plan.attribute, 1, softmax_kernel<T>,
                     dim3(static_cast<unsigned>(in.rows) * plan.blocks), dim3(static_cast<unsigned>(threads)),
                     rest > 0 ? std::max(rest * sizeof(T), least) : 0, stream, values, results, in.columns,
                     plan.part);
  });
}

std::string unsupported(const problem::parameters& p) {
  const bool is_narrow = static_cast<element>(p.type) == element::bfloat16;
  if (p.columns % (is_narrow ? 8 : 4) == 0) return cluster_plan::unsupported(p);
  return is_narrow ? "columns must be a multiple of 8 (16 bytes)"
                   : "columns must be a multiple of 4 (16 bytes)";
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a part in registers and in shared memory: two blocks a multiprocessor",
     .launch = launch,
     .unsupported = unsupported,
     .relative_error =
         [](const problem::parameters& p) { return rounding_error(p, 64 + additions_in_block + 5); },
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::softmax::shared_memory
