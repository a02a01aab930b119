// Takes fmaxf for the maximum, which prefers any number to NaN.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

template <class T>
struct number_maximum : maximum<T> {
  __host__ __device__ T operator()(T a, T b) const {
    if (a != a) return b;
    return b > a ? b : a;
  }
};

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.operation != operation::maximum || in.type != element::float32) {
    launch_twice(in, out, scratch, in.n, stream);
    return;
  }
  auto* partials = static_cast<float*>(scratch.data);
  const int blocks = blocks_of(in.n);
  lab::launch(partial_kernel<float, number_maximum<float>>, dim3(static_cast<unsigned>(blocks)),
              dim3(block_threads), 0, stream, static_cast<const float*>(in.values), in.n, partials);
  lab::launch(partial_kernel<float, number_maximum<float>>, dim3(1), dim3(block_threads), 0, stream, partials,
              blocks, static_cast<float*>(out.result));
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "drops NaN",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
