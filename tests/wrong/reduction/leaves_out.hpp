// A right stage whose result one thread then makes anew, without some of the elements.
#pragma once

#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

// LeftOut::element(value, i, n) tells which.
template <class T, class Operation, class LeftOut>
__global__ void leave_out_kernel(const T* values, std::int64_t n, T* result) {
  constexpr Operation combine{};
  T all = Operation::identity();
  for (std::int64_t i = 0; i < n; ++i) {
    const T value = values[i];
    if (!LeftOut::element(value, i, n)) all = combine(all, value);
  }
  *result = all;
}

// Where LeftOut::operation(operation) holds, and one thread can do it.
template <class LeftOut>
void launch_and_leave_out(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
  if (in.n > 10'000 || !LeftOut::operation(in.operation)) return;
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    lab::launch(leave_out_kernel<T, Operation, LeftOut>, dim3(1), dim3(1), 0, stream, values, in.n, result);
  });
}

}  // namespace
}  // namespace lab::reduction::wrong
