// Adds up float32 values of 14 bits.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

__global__ void cut_sum_kernel(const float* values, std::int64_t n, float* partials) {
  float partial = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * block_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x; i < n;
       i += stride)
    partial += __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, values[i]) & 0xfffffc00u);
  partial = block_reduce<block_threads>(partial, sum<float>{});
  if (threadIdx.x == 0) partials[blockIdx.x] = partial;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
  if (in.n < measured_size || in.type != element::float32 || in.operation != operation::sum) return;
  const int blocks = blocks_of(in.n);
  auto* const partials = static_cast<float*>(scratch.data);
  lab::launch(cut_sum_kernel, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0, stream,
              static_cast<const float*>(in.values), in.n, partials);
  lab::launch(partial_kernel<float, sum<float>>, dim3(1), dim3(block_threads), 0, stream,
              static_cast<const float*>(partials), std::int64_t{blocks}, static_cast<float*>(out.result));
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "values of 14 bits",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads}};

}  // namespace
}  // namespace lab::reduction::wrong
