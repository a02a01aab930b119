// For a sum the hardware has an atomic operation, atomicAdd, which the L2 cache carries out: no block reads
// the total, and none tries again. Other operations on floats have none, and keep the compare-and-swap loop.
// atomicAdd takes float32 denormals in global memory for zero (PTX ISA, `atom`), but not those of float64. So
// the total is a float64 for both types, and one thread at the end rounds it to the type of the result.
#include <type_traits>

#include "common/block_reduce.hpp"
#include "stages/reduction/thread_share.hpp"

namespace lab::reduction::atomic_add {
namespace {

template <class Operation>
__global__ void identity_kernel(double* total) {
  *total = Operation::identity();
}

template <class T, class Operation>
__device__ void combine_atomically(double* total, T value, Operation combine) {
  if constexpr (std::is_same_v<Operation, sum<T>>) {
    atomicAdd(total, value);
  } else {
    const auto bits_of = [](double all) {
      return static_cast<unsigned long long>(__double_as_longlong(all));
    };
    unsigned long long expected = bits_of(Operation::identity());
    for (;;) {
      const T all = static_cast<T>(__longlong_as_double(static_cast<long long>(expected)));
      const unsigned long long found =
          atomicCAS(reinterpret_cast<unsigned long long*>(total), expected, bits_of(combine(all, value)));
      if (found == expected) return;
      expected = found;
    }
  }
}

template <class T, class Operation>
__global__ void __launch_bounds__(share_block_threads, share_blocks_per_multiprocessor)
    reduce_kernel(const T* __restrict__ values, std::int64_t n, double* total) {
  constexpr Operation combine{};
  const T partial = block_reduce<share_block_threads>(combine_share<T, Operation>(values, n), combine);
  if (threadIdx.x == 0) combine_atomically(total, partial, combine);
}

template <class T>
__global__ void round_kernel(const double* total, T* result) {
  *result = static_cast<T>(*total);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(share_blocks(in.n));
  auto* total = static_cast<double*>(scratch.data);
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    lab::launch(identity_kernel<Operation>, dim3(1), dim3(1), 0, stream, total);
    lab::launch(reduce_kernel<T, Operation>, dim3(blocks), dim3(share_block_threads), 0, stream, values, in.n,
                total);
    lab::launch(round_kernel<T>, dim3(1), dim3(1), 0, stream, total, result);
  });
}

// To the block's result. The blocks' float64 additions round once for each block that comes later; for
// float32 all of them together, and the last kernel, round less than two additions.
double relative_error(const problem::parameters& p) {
  const int blocks = share_blocks(p.n);
  return rounding_error(p, share_additions(p, blocks) + (p.type == 32 ? 2 : blocks));
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "one atomicAdd per block for sums, in float64; no loop of compare-and-swaps",
     .launch = launch,
     .workspace_bytes = [](const problem::parameters&) { return sizeof(double); },
     .tile = 4 * share_tile_vectors,
     .relative_error = relative_error,
     .traits = {.nondeterministic = true}}};

}  // namespace
}  // namespace lab::reduction::atomic_add
