// A sum as a chain: each block adds its part to the total of the block before it, for which it waits.
#pragma once

#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {

template <class T>
struct link {
  T total;
  unsigned is_ready;
};

inline std::size_t links_bytes(const problem::parameters& /*p*/) {
  return max_blocks * sizeof(link<double>);
}

template <class T, class Operation>
__global__ void chain_kernel(const T* values, std::int64_t n, link<T>* links, T* result) {
  constexpr Operation combine{};
  T total = block_reduce<block_threads>(combine_share<T, Operation>(values, n), combine);
  if (threadIdx.x > 0) return;
  const unsigned block = blockIdx.x;
  if (block > 0) {
    while (atomicAdd(&links[block - 1].is_ready, 0u) != 1) __nanosleep(20);
    __threadfence();
    total = combine(links[block - 1].total, total);
  }
  links[block].total = total;
  __threadfence();
  atomicExch(&links[block].is_ready, 1u);
  if (block == gridDim.x - 1) *result = total;
}

template <bool clears>
void launch_chain(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (clears) CUDA_CHECK(cudaMemsetAsync(scratch.data, 0, scratch.bytes, stream));
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    lab::launch(chain_kernel<T, Operation>, dim3(static_cast<unsigned>(blocks_of(in.n))), dim3(block_threads),
                0, stream, values, in.n, static_cast<link<T>*>(scratch.data), result);
  });
}

}  // namespace lab::reduction::wrong
