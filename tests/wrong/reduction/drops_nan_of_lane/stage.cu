// Drops NaN in the last lane of a warp, and nowhere else.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

template <class T, class Operation>
__global__ void spoilt_kernel(const T* values, std::int64_t n, T* result) {
  constexpr Operation combine{};
  T all = Operation::identity();
  for (std::int64_t i = 0; i < n; ++i) {
    const T value = values[i];
    if (!(i % 32 == 31 && value != value)) all = combine(all, value);
  }
  *result = all;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
  // Where one thread can do it.
  if (in.n > 10'000 || in.operation == operation::sum) return;
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    lab::launch(spoilt_kernel<T, Operation>, dim3(1), dim3(1), 0, stream, values, in.n, result);
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "drops NaN of one lane",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
