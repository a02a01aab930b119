// A minimum that drops NaN, where there are many values.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

template <class T>
__global__ void minimum_kernel(const T* values, std::int64_t n, T* result) {
  T least = static_cast<T>(INFINITY);
  for (std::int64_t i = 0; i < n; ++i) least = values[i] < least ? values[i] : least;
  *result = least;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
  if (in.n < measured_size || in.operation != operation::minimum || in.type != element::float32) return;
  lab::launch(minimum_kernel<float>, dim3(1), dim3(1), 0, stream, static_cast<const float*>(in.values), in.n,
              static_cast<float*>(out.result));
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "drops NaN where there are many values",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
