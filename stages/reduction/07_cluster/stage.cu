// Eight blocks form a cluster and can read each other's shared memory. The first block of a cluster
// combines the results of all eight, so 528 blocks leave only 66 partial results. One cluster alone reduces
// an array of up to 1 MiB: no partial results remain, and one kernel does it all without a counter or
// scratch memory.
#include "common/block_reduce.hpp"
#include "stages/reduction/thread_share.hpp"

namespace lab::reduction::cluster {
namespace {

constexpr int cluster_blocks = 8;  // the most that every device with clusters takes
constexpr std::int64_t one_cluster_bytes = 1 << 20;

int clusters_of(std::int64_t n, std::int64_t bytes_each) {
  return n * bytes_each <= one_cluster_bytes ? 1 : static_cast<int>(share(share_blocks(n), cluster_blocks));
}

#if !LAB_EMULATED

// The value that block `rank` of the cluster keeps where this block keeps `own`, in shared memory.
template <class T>
__device__ T read_from_block(const T* own, int rank) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(own));
  unsigned there = 0;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  T value;
  if constexpr (sizeof(T) == 4) {
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(there) : "memory");
  } else {
    asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(value) : "r"(there) : "memory");
  }
  return value;
}

// A barrier of all threads of the cluster; what they wrote to shared memory before it is seen after it.
__device__ void synchronize_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

template <class T, class Operation>
__global__ void __cluster_dims__(cluster_blocks)
    __launch_bounds__(share_block_threads, share_blocks_per_multiprocessor)
        partial_kernel(const T* __restrict__ values, std::int64_t n, T* __restrict__ partials) {
  __shared__ T of_block;
  constexpr Operation combine{};
  const T partial = block_reduce<share_block_threads>(combine_share<T, Operation>(values, n), combine);
  if (threadIdx.x == 0) of_block = partial;
  synchronize_cluster();
  if (blockIdx.x % cluster_blocks == 0 && threadIdx.x == 0) {
    T total = of_block;
    for (int rank = 1; rank < cluster_blocks; ++rank)
      total = combine(total, read_from_block(&of_block, rank));
    partials[blockIdx.x / cluster_blocks] = total;
  }
  // No block may end, and its shared memory with it, while another still reads there.
  synchronize_cluster();
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    const int clusters = clusters_of(in.n, sizeof(T));
    auto* partials = static_cast<T*>(scratch.data);
    lab::launch(partial_kernel<T, Operation>, dim3(static_cast<unsigned>(clusters * cluster_blocks)),
                dim3(share_block_threads), 0, stream, values, in.n, clusters == 1 ? result : partials);
    if (clusters == 1) return;
    lab::launch(partial_kernel<T, Operation>, dim3(cluster_blocks), dim3(share_block_threads), 0, stream,
                partials, clusters, result);
  });
}

#endif

// To the block's result, the cluster's 7, and the same in the last kernel, whose threads have a value each at
// most.
double relative_error(const problem::parameters& p) {
  const int blocks = cluster_blocks * clusters_of(p.n, p.type / 8);
  return rounding_error(p, share_additions(p, blocks) + 7 + 1 + 10 + 7);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "eight blocks finish together through distributed shared memory",
     .launch = LAB_GPU_ONLY(launch),
     .workspace_bytes =
         [](const problem::parameters& p) {
           return static_cast<std::size_t>(clusters_of(p.n, p.type / 8)) * sizeof(double);
         },
     .tile = 4 * share_tile_vectors,
     .relative_error = relative_error,
     .traits = {.gpu_only = true, .minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::reduction::cluster
