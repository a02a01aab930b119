// Eight blocks form a cluster and can read each other's shared memory. The first block of a cluster
// combines the results of all eight, so 528 blocks leave only 66 partial results. One cluster alone reduces
// an array of up to 1 MiB: no partial results remain, and one kernel does it all without a counter or
// scratch memory.
#include "common/block_reduce.hpp"
#include "common/cluster.hpp"
#include "stages/reduction/thread_share.hpp"

namespace lab::reduction::cluster {
namespace {

constexpr int cluster_blocks = 8;  // the most that every device with clusters takes
constexpr std::int64_t one_cluster_bytes = 1 << 20;

int clusters_of(std::int64_t n, std::int64_t bytes_each) {
  return n * bytes_each <= one_cluster_bytes ? 1 : static_cast<int>(share(share_blocks(n), cluster_blocks));
}

template <class T, class Operation>
__global__ void __cluster_dims__(cluster_blocks)
    __launch_bounds__(share_block_threads, share_blocks_per_multiprocessor)
        partial_kernel(const T* __restrict__ values, std::int64_t n, T* __restrict__ partials) {
  __shared__ T of_block;
  constexpr Operation combine{};
  const T partial = block_reduce<share_block_threads>(combine_share<T, Operation>(values, n), combine);
  if (threadIdx.x == 0) of_block = partial;
  cluster_sync();
  if (blockIdx.x % cluster_blocks == 0 && threadIdx.x == 0) {
    T total = of_block;
    for (int rank = 1; rank < cluster_blocks; ++rank)
      total = combine(total, read_from_block(&of_block, rank));
    partials[blockIdx.x / cluster_blocks] = total;
  }
  // No block may end, and its shared memory with it, while another still reads there.
  cluster_sync();
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

// To the block's result, the cluster's 7, and the same in the last kernel, whose threads have a value each at
// most.
double relative_error(const problem::parameters& p) {
  const int blocks = cluster_blocks * clusters_of(p.n, p.type / 8);
  return rounding_error(p, share_additions(p, blocks) + 7 + 1 + 10 + 7);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "eight blocks finish together through distributed shared memory",
     .launch = launch,
     .workspace_bytes =
         [](const problem::parameters& p) {
           return static_cast<std::size_t>(clusters_of(p.n, p.type / 8)) * sizeof(double);
         },
     .tile = 4 * share_tile_vectors,
     .relative_error = relative_error,
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::reduction::cluster
