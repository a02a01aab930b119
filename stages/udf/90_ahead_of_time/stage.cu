// The reference for speed: nvcc knows the function at compile time and inlines it. The other stages are
// compared with this one.
#include "stages/udf/compiled_functions.hpp"
#include "stages/udf/grid.hpp"

namespace lab::udf::ahead_of_time {
namespace {

template <class Value, class Result, class Function>
__global__ void __launch_bounds__(block_threads)
    element_kernel(const Value* __restrict__ values, Result* __restrict__ results, long long n,
                   Function function) {
  apply_to_elements(values, results, n, function);
}

template <class Value, class Result>
__global__ void __launch_bounds__(block_threads)
    window_kernel(const Value* __restrict__ values, Result* __restrict__ results, long long n,
                  long long window, long long min_periods, Result missing) {
  apply_to_windows(values, results, n, window, min_periods, missing,
                   [](const Value* first, long long count) { return window_sum(first, count); });
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.n == 0) return;
  problem::with_types(in.type, in.result, [&]<class Value, class Stored>(Value, Stored) {
    using Result = kernel_result<Stored>;
    const auto* const values = static_cast<const Value*>(in.values);
    auto* const results = static_cast<Result*>(out.results);
    if (in.window > 0) {
      return lab::launch(window_kernel<Value, Result>, grid_for(in.n), dim3(block_threads), 0, stream, values,
                         results, in.n, in.window, in.min_periods, static_cast<Result>(incomplete<Stored>()));
    }
    with_element_function(in.function, [&]<class Function>(Function function) {
      lab::launch(element_kernel<Value, Result, Function>, grid_for(in.n), dim3(block_threads), 0, stream,
                  values, results, in.n, function);
    });
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "the function is known to the compiler: the yardstick",
                                        .launch = launch,
                                        .unsupported = problem::knows_its_own_alone,
                                        .tile = block_threads,
                                        .traits = {.library = true}}};

}  // namespace
}  // namespace lab::udf::ahead_of_time
