// The kernels around a function, without a header: nvcc compiles this text into 90_ahead_of_time and
// 01_function_pointer, NVRTC compiles it at run time.

// results[i] = function(values[i]) for i < n, neighbouring threads on neighbouring elements.
template <class Value, class Result, class Function>
__device__ __forceinline__ void apply_to_elements(const Value* __restrict__ values,
                                                  Result* __restrict__ results, long long n,
                                                  const Function& function) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  // Two at a time: each further one is compiled anew, too, with every function.
#pragma unroll 2
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
    results[i] = static_cast<Result>(function(values[i]));
}

// The same with 16-byte loads: a thread has two neighbouring values at once, and `vectors` such pairs under
// way. Both arrays begin at a multiple of 16 bytes.
template <int vectors, class Value, class Result, class Function>
__device__ __forceinline__ void apply_to_pairs(const Value* __restrict__ values, Result* __restrict__ results,
                                               long long n, const Function& function) {
  struct alignas(2 * sizeof(Value)) value_pair {
    Value first, second;
  };
  struct alignas(2 * sizeof(Result)) result_pair {
    Result first, second;
  };
  const auto* const from = reinterpret_cast<const value_pair*>(values);
  auto* const to = reinterpret_cast<result_pair*>(results);
  const long long pairs = n / 2;
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x * vectors + threadIdx.x;
  value_pair loaded[vectors];
  if (first + (vectors - 1) * static_cast<int>(blockDim.x) < pairs) {
#pragma unroll
    for (int k = 0; k < vectors; ++k) loaded[k] = from[first + k * static_cast<int>(blockDim.x)];
#pragma unroll
    for (int k = 0; k < vectors; ++k)
      to[first + k * static_cast<int>(blockDim.x)] = {static_cast<Result>(function(loaded[k].first)),
                                                      static_cast<Result>(function(loaded[k].second))};
  } else {
    for (int k = 0; k < vectors; ++k) {
      const long long i = first + k * static_cast<int>(blockDim.x);
      if (i < pairs)
        to[i] = {static_cast<Result>(function(from[i].first)), static_cast<Result>(function(from[i].second))};
    }
  }
  // An odd n leaves one value over, which belongs to no pair.
  if (n % 2 != 0 && first == 0) results[n - 1] = static_cast<Result>(function(values[n - 1]));
}

// results[i] = function of the values i - window + 1 .. i, of those that there are; `incomplete` where they
// are fewer than min_periods.
template <class Value, class Result, class Function>
__device__ __forceinline__ void apply_to_windows(const Value* __restrict__ values,
                                                 Result* __restrict__ results, long long n, long long window,
                                                 long long min_periods, Result incomplete,
                                                 const Function& function) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    const long long count = i + 1 < window ? i + 1 : window;
    results[i] =
        count < min_periods ? incomplete : static_cast<Result>(function(values + (i + 1 - count), count));
  }
}
