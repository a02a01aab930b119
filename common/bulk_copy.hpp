// Bulk asynchronous copies between global and shared memory, and the barriers that they complete on (compute
// capability 9.0). PTX ISA, sections "cp.async.bulk" and "mbarrier". Addresses and sizes are multiples of 16
// bytes. On lower architectures the functions trap. The emulator's are in
// common/emulator/core/bulk_copy_functions.hpp.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"
#include "common/sm90.hpp"
#if LAB_EMULATED
#include "common/emulator/core/bulk_copy_functions.hpp"
#endif

namespace lab {

// Of a kernel that has another way, too: whether it is to use these copies where it runs.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
inline constexpr bool has_bulk_copies = false;
#else
inline constexpr bool has_bulk_copies = true;
#endif

}  // namespace lab

#if defined(__CUDACC__) && !LAB_EMULATED

namespace lab {

// A barrier in shared memory. It counts phases from 0; a phase ends when `arrivals` threads have arrived and
// every byte expected in it has landed.
struct mbarrier {
  std::uint64_t state;

  __device__ __forceinline__ void initialise(int arrivals) {
    LAB_SM90("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&state)), "r"(arrivals)
             : "memory");
  }

  __device__ __forceinline__ void arrive() {
    LAB_SM90("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&state)) : "memory");
  }

  // Arrives, and expects `bytes` more in the current phase.
  __device__ __forceinline__ void arrive_expect_tx(int bytes) {
    LAB_SM90("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&state)),
             "r"(bytes)
             : "memory");
  }

  // Blocks until phase `phase` has ended. Only the current phase and the one before can be asked for.
  __device__ __forceinline__ void wait(unsigned phase) {
    LAB_SM90(
        "{\n.reg .pred done;\nretry%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra retry%=;\n}" ::"r"(shared_address(&state)),
        "r"(phase & 1)
        : "memory");
  }
};

// After `initialise`, before the first copy: the TMA sees the barriers.
__device__ __forceinline__ void fence_mbarrier_init() {
  LAB_SM90("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}

// What this thread has read and written in shared memory is ordered before bulk copies that others issue
// after it.
__device__ __forceinline__ void fence_proxy_async() {
  LAB_SM90("fence.proxy.async.shared::cta;" ::: "memory");
}

// Global to shared memory; arrives at `barrier` once itself, and completes its phase with the bytes.
template <class T>
__device__ __forceinline__ void copy_in(T* shared, const T* global, int count, mbarrier& barrier) {
  const int bytes = count * static_cast<int>(sizeof(T));
  barrier.arrive_expect_tx(bytes);
  LAB_SM90("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
               shared_address(shared)),
           "l"(global), "r"(bytes), "r"(shared_address(&barrier.state))
           : "memory");
}

// The same, and asks the L2 cache to keep the values, because another block will read them soon.
template <class T>
__device__ __forceinline__ void copy_in_and_keep(T* shared, const T* global, int count, mbarrier& barrier) {
  const int bytes = count * static_cast<int>(sizeof(T));
  std::uint64_t policy = 0;
  LAB_SM90("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  barrier.arrive_expect_tx(bytes);
  LAB_SM90(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, "
      "[%3], %4;" ::"r"(shared_address(shared)),
      "l"(global), "r"(bytes), "r"(shared_address(&barrier.state)), "l"(policy)
      : "memory");
}

// Into the L2 cache, where a block that comes later will find it. Waits for nothing and promises nothing.
template <class T>
__device__ __forceinline__ void prefetch(const T* global, int count) {
  LAB_SM90("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(global),
           "r"(count * static_cast<int>(sizeof(T)))
           : "memory");
}

// Shared to global memory, into the thread's current group.
template <class T>
__device__ __forceinline__ void copy_out(T* global, const T* shared, int count) {
  LAB_SM90("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
           "r"(shared_address(shared)), "r"(count * static_cast<int>(sizeof(T)))
           : "memory");
}

__device__ __forceinline__ void commit_group() {
  LAB_SM90("cp.async.bulk.commit_group;" ::: "memory");
}

// Blocks until all but the last `pending` groups of this thread have left shared memory, which may then be
// reused.
template <int pending>
__device__ __forceinline__ void wait_group_read() {
  LAB_SM90("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

// __syncthreads() of the `threads` threads of the block that name the same barrier, 1 to 15.
__device__ __forceinline__ void named_barrier(int name, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

}  // namespace lab

#endif
