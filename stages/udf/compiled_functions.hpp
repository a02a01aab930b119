// The track's functions and kernels as nvcc compiles them, for the stages that know the function beforehand.
// The same text is compiled at run time by those that do not.
#pragma once

#include <type_traits>

#include "common/cuda.hpp"
#include "stages/udf/problem.hpp"

namespace lab::udf {

#include "stages/udf/functions/functions.cuh"
#include "stages/udf/kernels.cuh"

// A bool's byte is a bool to a kernel.
template <class Result>
using kernel_result = std::conditional_t<std::is_same_v<Result, boolean>, bool, Result>;

// Function `which` of an element.
template <function which>
struct element_function {
  template <class Value>
  __device__ auto operator()(Value x) const {
    if constexpr (which == function::square) return square(x);
    if constexpr (which == function::choose) return choose(x);
    if constexpr (which == function::branch) return branch(x);
    if constexpr (which == function::member) return member(x);
    if constexpr (which == function::member20) return member20(x);
  }
};

// Calls visit(element_function<...>{}) with the one that is asked for, on the side of the caller.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable  // a visitor may be a host function, where the caller is one
#endif
template <class Visit>
__host__ __device__ void with_element_function(function which, const Visit& visit) {
  switch (which) {
    case function::square:
      return visit(element_function<function::square>{});
    case function::choose:
      return visit(element_function<function::choose>{});
    case function::branch:
      return visit(element_function<function::branch>{});
    case function::member:
      return visit(element_function<function::member>{});
    case function::member20:
      return visit(element_function<function::member20>{});
    case function::window_sum:
      break;
  }
}

}  // namespace lab::udf
