// The track's functions in CUDA C++, without a header: 90_ahead_of_time and 01_function_pointer include this
// text, and 03 to 05 hand it to NVRTC as it stands. Value is the element type.

// 81 256 625 1296 2401 of 9 16 25 36 49.
template <class Value>
__device__ Value square(Value x) {
  return x * x;
}

template <class Value>
__device__ int choose(Value x) {
  return x == 9 || x == 44 ? 1 : 2;
}

template <class Value>
__device__ int branch(Value x) {
  return x > 9 ? 8 : 1;
}

// Whether x is among four numbers, listed five times over.
template <class Value>
__device__ bool member(Value x) {
  bool found = false;
  for (int k = 0; k < 5; ++k) found = found || x == 1027 || x == 1000 || x == 59 || x == 980;
  return found;
}

// Whether x is among the first 20 prime numbers.
template <class Value>
__device__ bool member20(Value x) {
  return x == 2 || x == 3 || x == 5 || x == 7 || x == 11 || x == 13 || x == 17 || x == 19 || x == 23 ||
         x == 29 || x == 31 || x == 37 || x == 41 || x == 43 || x == 47 || x == 53 || x == 59 || x == 61 ||
         x == 67 || x == 71;
}

// The sum of `count` values from `window` on.
template <class Value>
__device__ Value window_sum(const Value* window, long long count) {
  Value total = 0;
  for (long long k = 0; k < count; ++k) total = total + window[k];
  return total;
}
