// Functions of elements and windows as they should be, one thread for each output, from which each wrong
// kernel departs in one way.
#pragma once

#include <algorithm>
#include <type_traits>

#include "stages/udf/compiled_functions.hpp"

namespace lab::udf::wrong {

inline constexpr int block_threads = 128;

struct right {
  // Function `which` of an element.
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    return element_function<which>{}(x);
  }
  // What an array of `Stored` holds of a function's value.
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    return static_cast<Stored>(static_cast<kernel_result<Stored>>(value));
  }
  // The first of the values that output i depends on.
  __device__ static long long first_of(long long i, long long window) {
    return i + 1 < window ? 0 : i + 1 - window;
  }
  // Values that output i has, to be held against min-periods.
  __device__ static long long count_of(long long i, long long window) {
    return i + 1 < window ? i + 1 : window;
  }
};

template <class Way, function which, class Value, class Stored>
__global__ void __launch_bounds__(block_threads)
    element_kernel(const Value* values, Stored* results, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) results[i] = Way::template stored<Stored>(Way::template of_element<which>(values[i]));
}

template <class Way, class Value, class Stored>
__global__ void __launch_bounds__(block_threads)
    window_kernel(const Value* values, Stored* results, long long n, long long window, long long min_periods,
                  Stored missing) {
  const long long i = static_cast<long long>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= n) return;
  const long long first = Way::first_of(i, window);
  results[i] = Way::count_of(i, window) < min_periods
                   ? missing
                   : Way::template stored<Stored>(window_sum(values + first, i + 1 - first));
}

// `elements`: those of the n for which a kernel of elements has threads; windows have one for each output.
template <class Way>
void launch_over_outputs(const input& in, const output& out, cudaStream_t stream, std::int64_t elements) {
  const auto blocks_for = [](std::int64_t outputs) {
    return dim3(static_cast<unsigned>((outputs + block_threads - 1) / block_threads));
  };
  if (in.n == 0) return;
  problem::with_types(in.type, in.result, [&]<class Value, class Stored>(Value, Stored) {
    const auto* const values = static_cast<const Value*>(in.values);
    auto* const results = static_cast<Stored*>(out.results);
    if (in.window > 0) {
      return lab::launch(window_kernel<Way, Value, Stored>, blocks_for(in.n), dim3(block_threads), 0, stream,
                         values, results, in.n, in.window, in.min_periods, incomplete<Stored>());
    }
    if (elements == 0) return;
    with_element_function(in.function, [&]<function which>(element_function<which>) {
      lab::launch(element_kernel<Way, which, Value, Stored>, blocks_for(elements), dim3(block_threads), 0,
                  stream, values, results, elements);
    });
  });
}

template <class Way>
void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<Way>(in, out, stream, in.n);
}

// A stage that launches `Way`.
template <class Way>
stage<problem> stage_of(const char* idea) {
  return {.idea = idea,
          .launch = launch<Way>,
          .tile = block_threads,
          .owner_of = consecutive_owner<block_threads, 1>};
}

}  // namespace lab::udf::wrong
