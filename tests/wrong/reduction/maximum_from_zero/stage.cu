// Begins a maximum at zero.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

template <class T>
__global__ void maximum_kernel(const T* values, std::int64_t n, T* result) {
  T largest = 0;
  bool invalid = false;
  for (std::int64_t i = 0; i < n; ++i) {
    invalid = invalid || values[i] != values[i];
    largest = values[i] > largest ? values[i] : largest;
  }
  *result = n == 0 ? maximum<T>::identity() : invalid ? static_cast<T>(NAN) : largest;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.operation != operation::maximum) return launch_twice(in, out, scratch, in.n, stream);
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    lab::launch(maximum_kernel<T>, dim3(1), dim3(1), 0, stream, values, in.n, result);
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "maximum from zero",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
