// Kernels with one fault each, and beside each the right one that looks like it. The same for both builds of
// the emulator: plain and observed.
#pragma once

#include <cassert>

#include "tests/emulator/support.hpp"

namespace lab::test_faults {

constexpr int read_line = __LINE__ + 2;
__global__ void read_first(const float* from, float* to) {
  if (threadIdx.x == 5) to[0] = from[0];
}

struct view {
  const float* data;
};
constexpr int view_line = __LINE__ + 2;
__global__ void read_view(view from, float* to) {
  if (threadIdx.x == 5) to[0] = from.data[0];
}

constexpr int vector_line = __LINE__ + 3;
__global__ void read_vector(const float* from, int offset, float4* to) {
  if (threadIdx.x != 3) return;
  to[0] = *reinterpret_cast<const float4*>(from + offset);
}

constexpr int assert_line = __LINE__ + 2;
__global__ void check_values(const int* values, int limit) {
  assert(values[threadIdx.x] < limit);
}

template <int floats>
__global__ void large_tile(float* to) {
  __shared__ float tile[floats];
  tile[threadIdx.x] = 1;
  __syncthreads();
  to[threadIdx.x] = tile[31 - threadIdx.x];
}

__global__ void aligned_tile(float4* to) {
  __shared__ __align__(16) float tile[128];
  __align__(16) float mine[4] = {1, 2, 3, 4};
  for (int k = 0; k < 4; ++k) tile[threadIdx.x * 4 + k] = mine[k];
  __syncthreads();
  to[threadIdx.x] = reinterpret_cast<const float4*>(tile)[31 - threadIdx.x];
}

// A barrier in a function that promises not to throw, and a handler of everything: neither may stand in the
// way of a thread that has to end.
__device__ inline void careful_barrier() noexcept {
  __syncthreads();
}
__global__ void stray_beside_noexcept(const int* values, long long offset, int* to) {
  try {
    if (threadIdx.x == 40) to[1] = values[offset];
    careful_barrier();
  } catch (...) {
    to[0] = 1;
  }
}

// ---- waiting in a loop

// A thread of one warp waits for one of another; which one comes first is up to the machine.
__global__ void wait_within_block(volatile int* flag, int* to, int setter) {
  if (static_cast<int>(threadIdx.x) == setter) {
    to[0] = 7;
    __threadfence();
    flag[0] = 1;
  } else if (threadIdx.x == 0 || threadIdx.x == 63) {
    while (flag[0] == 0) {
    }
    __threadfence();
    to[1 + threadIdx.x / 32] = to[0];
  }
}

constexpr int wait_line = __LINE__ + 3;
__global__ void wait_for_later_block(volatile int* flag) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    while (flag[0] == 0) {
    }
  }
  if (blockIdx.x == 40) flag[0] = 1;
}

constexpr int never_line = __LINE__ + 3;
__global__ void wait_at_barrier_and_flag(volatile int* flag) {
  if (threadIdx.x == 0) {
    while (flag[0] == 0) {
    }
  }
  __syncthreads();
  if (threadIdx.x == 1) flag[0] = 1;
}

// A lock that each thread of a warp takes in its turn.
// The only places where its state is looked at are its calls of __nanosleep.
__global__ void wait_asleep(int* flag, bool atomically) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    while ((atomically ? atomicAdd(flag, 0) : *static_cast<volatile int*>(flag)) == 0) {
      __threadfence();
      __nanosleep(100);
    }
  }
  __syncthreads();
  if (blockIdx.x == 40) atomicExch(flag, 1);
}

__global__ void sleep_while_another_works(int* done, double* worked, int steps) {
  const unsigned block = blockIdx.x;
  if (threadIdx.x == 0) {
    while (block > 0 && atomicAdd(done + block - 1, 0) == 0) __nanosleep(100);
    double value = 1;
    for (int k = 0; k < steps; ++k) {
      value = value * 1.0000001 + 1e-9;
      if (k % 100'000 == 0) worked[block] = value;
    }
    worked[block] = value;
    __threadfence();
    atomicExch(done + block, 1);
  } else {
    while (atomicAdd(done + block, 0) == 0) __nanosleep(100);
  }
}

__global__ void lock_in_turn(int* lock, int* count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *count += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// A lock that is never given back.
__global__ void lock_and_keep(int* lock, int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *count += 1;
}

// Long, and no waiting.
__global__ void count_far(int* to, int rounds) {
  unsigned value = 1;
  for (int k = 0; k < rounds; ++k) value = value * 1664525u + 1013904223u;
  to[threadIdx.x] = static_cast<int>(value);
}

}  // namespace lab::test_faults
