// Clusters of blocks, which run at the same time and reach one another's shared memory (compute capability
// 9.0). PTX ISA, sections "barrier.cluster", "mapa" and "cp.async.bulk". A kernel says how many blocks form a
// cluster by __cluster_dims__, or its launch does by cudaLaunchAttributeClusterDimension. On lower
// architectures the functions trap. The emulator's are in common/emulator/core/cluster_functions.hpp.
#pragma once

#include <cstdint>
#include <type_traits>

#include "common/bulk_copy.hpp"
#include "common/cuda.hpp"
#include "common/sm90.hpp"
#if LAB_EMULATED
#include "common/emulator/core/cluster_functions.hpp"
#endif

#if defined(__CUDACC__) && !LAB_EMULATED

namespace lab {

// This block among those of its cluster, and how many they are.
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank = 0;
  LAB_SM90("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ unsigned cluster_blocks() {
  unsigned blocks = 1;
  LAB_SM90("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}

// A barrier of all threads of the cluster, in two halves; what they wrote before the first is seen behind the
// second. All threads of a warp call them together.
__device__ __forceinline__ void cluster_arrive() {
  LAB_SM90("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  LAB_SM90("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_sync() {
  LAB_SM90("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__device__ __forceinline__ unsigned shared_address_in_block(const void* own, int rank) {
  unsigned there = 0;
  LAB_SM90("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(own)), "r"(rank));
  return there;
}

// Where block `rank` of the cluster has what this block has at `own`, in shared memory: for loads, stores and
// atomic functions. That block must have begun, and may not leave the kernel before.
template <class T>
__device__ __forceinline__ T* map_to_block(T* own, int rank) {
  std::uint64_t there = 0;
  LAB_SM90("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(own), "r"(rank));
  return reinterpret_cast<T*>(there);
}

// The value that block `rank` of the cluster keeps where this block keeps `own`, in shared memory.
template <class T>
__device__ __forceinline__ T read_from_block(const T* own, int rank) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "one register, or two");
  const unsigned there = shared_address_in_block(own, rank);
  T value{};
  if constexpr (std::is_same_v<T, float>) {
    LAB_SM90("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(there) : "memory");
  } else if constexpr (std::is_same_v<T, double>) {
    LAB_SM90("ld.shared::cluster.f64 %0, [%1];" : "=d"(value) : "r"(there) : "memory");
  } else {
    value = *map_to_block(own, rank);
  }
  return value;
}

// Arrives at the barrier that block `rank` has where this block has `own`: this thread has read what copies
// of that block may write next. What it wrote is not ordered before; a release of the cluster would have it
// wait for all of its memory accesses.
__device__ __forceinline__ void arrive_at_block(mbarrier& own, int rank) {
  LAB_SM90("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(
               shared_address_in_block(&own.state, rank))
           : "memory");
}

// From this block's shared memory to that of block `rank`, at the place of `own`; completes bytes at the
// barrier that block `rank` has where this block has `barrier`, and which has to expect them.
template <class T>
__device__ __forceinline__ void copy_to_block(T* own, const T* shared, int count, mbarrier& barrier,
                                              int rank) {
  LAB_SM90(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address_in_block(own, rank)),
      "r"(shared_address(shared)), "r"(count * static_cast<int>(sizeof(T))),
      "r"(shared_address_in_block(&barrier.state, rank))
      : "memory");
}

// Global memory to the same place in each block of the cluster whose bit is set in `blocks` (multicast);
// completes bytes at the barrier of each, which has to expect them. Compute capability 9.0 alone (sm_90a).
template <class T>
__device__ __forceinline__ void copy_in_to_blocks(T* shared, const T* global, int count, mbarrier& barrier,
                                                  unsigned blocks) {
  LAB_SM90A(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
      "[%3], %4;" ::"r"(shared_address(shared)),
      "l"(global), "r"(count * static_cast<int>(sizeof(T))), "r"(shared_address(&barrier.state)),
      "h"(static_cast<std::uint16_t>(blocks))
      : "memory");
}

}  // namespace lab

#endif
