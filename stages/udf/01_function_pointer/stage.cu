// The function is chosen at run time and called through a pointer. The kernel is compiled only once, but each
// element pays for a call: arguments go to the registers of the calling convention, and the compiler cannot
// optimize the loop and the function together.
#include <memory>

#include "common/memory.hpp"
#include "stages/udf/compiled_functions.hpp"
#include "stages/udf/grid.hpp"

namespace lab::udf::function_pointer {
namespace {

template <class Value, class Result>
using element_pointer = Result (*)(Value);
template <class Value, class Result>
using window_pointer = Result (*)(const Value*, long long);

template <class Value, class Result, class Function>
__device__ Result of_element(Value x) {
  return static_cast<Result>(Function{}(x));
}
template <class Value, class Result>
__device__ Result of_window(const Value* first, long long count) {
  return static_cast<Result>(window_sum(first, count));
}

// The address of a device function is known on the device alone.
template <class Value, class Result>
__global__ void find_kernel(function which, element_pointer<Value, Result>* element,
                            window_pointer<Value, Result>* window) {
  // exercise: pointers
  *window = &of_window<Value, Result>;
  with_element_function(which,
                        [&]<class Function>(Function) { *element = &of_element<Value, Result, Function>; });
  // end
}

template <class Value, class Result>
__global__ void __launch_bounds__(block_threads)
    element_kernel(const Value* __restrict__ values, Result* __restrict__ results, long long n,
                   const element_pointer<Value, Result>* function) {
  apply_to_elements(values, results, n, *function);
}

template <class Value, class Result>
__global__ void __launch_bounds__(block_threads)
    window_kernel(const Value* __restrict__ values, Result* __restrict__ results, long long n,
                  long long window, long long min_periods, Result missing,
                  const window_pointer<Value, Result>* function) {
  apply_to_windows(values, results, n, window, min_periods, missing, *function);
}

template <class Value, class Stored>
plan<problem> typed_plan(const problem::parameters& p, cudaStream_t stream) {
  using Result = kernel_result<Stored>;
  const auto element = std::make_shared<device_buffer<element_pointer<Value, Result>>>(1, stream);
  const auto window = std::make_shared<device_buffer<window_pointer<Value, Result>>>(1, stream);
  lab::launch(find_kernel<Value, Result>, dim3(1), dim3(1), 0, stream, static_cast<function>(p.function),
              element->data(), window->data());
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return {.launch = [element, window](const input& in, const output& out, workspace /*scratch*/,
                                      cudaStream_t on) {
    if (in.n == 0) return;
    const auto* const values = static_cast<const Value*>(in.values);
    auto* const results = static_cast<Result*>(out.results);
    if (in.window > 0) {
      lab::launch(window_kernel<Value, Result>, grid_for(in.n), dim3(block_threads), 0, on, values, results,
                  in.n, in.window, in.min_periods, static_cast<Result>(incomplete<Stored>()), window->data());
    } else {
      lab::launch(element_kernel<Value, Result>, grid_for(in.n), dim3(block_threads), 0, on, values, results,
                  in.n, element->data());
    }
  }};
}

plan<problem> prepare(const problem::parameters& p, cudaStream_t stream) {
  return problem::with_types(
      static_cast<value_type>(p.type), static_cast<result_type>(p.result),
      [&]<class Value, class Stored>(Value, Stored) { return typed_plan<Value, Stored>(p, stream); });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "called through a pointer",
                                        .prepare = prepare,
                                        .unsupported = problem::knows_its_own_alone,
                                        .tile = block_threads}};

}  // namespace
}  // namespace lab::udf::function_pointer
