// The reduction as it should be, from which each wrong kernel departs in one way.
#pragma once

#include "common/block_reduce.hpp"
#include "stages/reduction/problem.hpp"

namespace lab::reduction::wrong {

inline constexpr int block_threads = 128;
inline constexpr std::int64_t max_blocks = 256;

// A thread's part of n values, dealt out in turn.
template <class T, class Operation>
__device__ T combine_share(const T* values, std::int64_t n) {
  constexpr Operation combine{};
  T partial = Operation::identity();
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * block_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x; i < n;
       i += stride) {
    partial = combine(partial, values[i]);
  }
  return partial;
}

template <class T, class Operation>
__global__ void partial_kernel(const T* values, std::int64_t n, T* partials) {
  const T partial = block_reduce<block_threads>(combine_share<T, Operation>(values, n), Operation{});
  if (threadIdx.x == 0) partials[blockIdx.x] = partial;
}

inline int blocks_of(std::int64_t n) {
  return blocks_for(n, block_threads, max_blocks);
}

inline std::size_t partials_bytes(const problem::parameters& /*p*/) {
  return max_blocks * sizeof(double);
}

// Loose, so that each is rejected for its own mistake and not for rounding.
inline double relative_error(const problem::parameters& p) {
  return rounding_error(p, p.n / 1000 + 500);
}

// The partial results of whole blocks, and the same kernel over them.
inline void launch_twice(const input& in, const output& out, workspace scratch, std::int64_t n,
                         cudaStream_t stream) {
  const int blocks = blocks_of(n);
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = static_cast<T*>(scratch.data);
    lab::launch(partial_kernel<T, Operation>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0,
                stream, values, n, partials);
    lab::launch(partial_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, partials, blocks,
                result);
  });
}

// Sizes that are measured, on the emulator and on a GPU, and not tried before.
inline constexpr std::int64_t measured_size = 500'000;

// What a stage may declare at most, so that nothing but exact inputs finds it out.
inline double no_bound(const problem::parameters& /*p*/) {
  return 1;
}

// Right, and then spoilt: `spoil` is one thread's work on the sum of n values. Below the measured sizes it is
// left alone.
inline void launch_and_spoil(void (*spoil)(const float*, std::int64_t, float*), const input& in,
                             const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
  if (in.n < measured_size || in.type != element::float32 || in.operation != operation::sum) return;
  lab::launch(spoil, dim3(1), dim3(1), 0, stream, static_cast<const float*>(in.values), in.n,
              static_cast<float*>(out.result));
}

}  // namespace lab::reduction::wrong
