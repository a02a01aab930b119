// Each block combines its result into the output with one atomic operation, so no second kernel has to
// finish. Blocks arrive in the order in which they end, and float addition depends on the order: the last
// bits of a sum change from run to run. Those of a minimum or maximum do not.
#include "common/block_reduce.hpp"
#include "stages/reduction/thread_share.hpp"

namespace lab::reduction::atomic {
namespace {

template <class T, class Operation>
__global__ void identity_kernel(T* result) {
  *result = Operation::identity();
}

__device__ unsigned bits_of(float value) {
  return __float_as_uint(value);
}
__device__ unsigned long long bits_of(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(value));
}
__device__ float value_of(unsigned bits) {
  return __uint_as_float(bits);
}
__device__ double value_of(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}

// *target = combine(*target, value), whoever else does the same meanwhile: the new bits are stored only if
// the old ones are still there, and otherwise combined anew.
template <class T, class Operation>
__device__ void combine_atomically(T* target, T value, Operation combine) {
  using word = decltype(bits_of(value));
  auto* bits = reinterpret_cast<word*>(target);
  // exercise: combine
  word expected = bits_of(Operation::identity());
  for (;;) {
    const word found = atomicCAS(bits, expected, bits_of(combine(value_of(expected), value)));
    if (found == expected) return;
    expected = found;
  }
  // end
}

template <class T, class Operation>
__global__ void __launch_bounds__(share_block_threads, share_blocks_per_multiprocessor)
    reduce_kernel(const T* __restrict__ values, std::int64_t n, T* __restrict__ result) {
  constexpr Operation combine{};
  const T partial = block_reduce<share_block_threads>(combine_share<T, Operation>(values, n), combine);
  if (threadIdx.x == 0) combine_atomically(result, partial, combine);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(share_blocks(in.n));
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    lab::launch(identity_kernel<T, Operation>, dim3(1), dim3(1), 0, stream, result);
    lab::launch(reduce_kernel<T, Operation>, dim3(blocks), dim3(share_block_threads), 0, stream, values, in.n,
                result);
  });
}

// To the block's result, and one addition for each block that comes later.
double relative_error(const problem::parameters& p) {
  const int blocks = share_blocks(p.n);
  return rounding_error(p, share_additions(p, blocks) + blocks);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "one atomic operation per block instead of a second kernel",
                                        .launch = launch,
                                        .tile = 4 * share_tile_vectors,
                                        .relative_error = relative_error,
                                        .traits = {.nondeterministic = true}}};

}  // namespace
}  // namespace lab::reduction::atomic
