// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include <algorithm>
#include <type_traits>

#include "stages/udf/compiled_functions.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::udf::wrong {
namespace {

// Functions of elements and windows as they should be, one thread for each output, from which each wrong
// kernel departs in one way.

constexpr int block_threads = 128;

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

// Compares the whole part of a real number: 9.5 is taken for 9.
struct compares_whole_part : right {
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    if constexpr (which == function::choose && std::is_floating_point_v<Value>) x = trunc(x);
    return element_function<which>{}(x);
  }
};
WRONG(compares_whole_part, failure_kind::wrong, "expected 2, found 1 ... input=quarters",
      stage_of<compares_whole_part>("the whole part"));

// Leaves the first value out of windows of more than 60 values.
struct cuts_long_windows : right {
  __device__ static long long first_of(long long i, long long window) {
    return right::first_of(i, window) + (window > 60 && i >= window ? 1 : 0);
  }
};
WRONG(cuts_long_windows, failure_kind::wrong, "wrong at index ... function=window_sum",
      stage_of<cuts_long_windows>("cuts long windows"));

// Keeps 32 bits of a whole number, and fills the rest with zeros: 2 to the power of 32 becomes 0.
struct cuts_to_32_bits : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_integral_v<Returned> && sizeof(Stored) == 8)
      return static_cast<Stored>(static_cast<unsigned>(value));
    return right::stored<Stored>(value);
  }
};
WRONG(cuts_to_32_bits, failure_kind::wrong, "wrong at index 0 ... result=int64 type=int64",
      stage_of<cuts_to_32_bits>("cuts to 32 bits"));

// Works on pairs, and forgets the value that an odd n leaves over.
namespace drops_odd_value {
void launch_pairs(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<right>(in, out, stream, in.n / 2 * 2);
}

WRONG(drops_odd_value, failure_kind::unwritten, "output 272 was never written ... n=273",
      {.idea = "drops an odd value",
       .launch = launch_pairs,
       .tile = block_threads,
       .owner_of = consecutive_owner<block_threads, 1>});
}  // namespace drops_odd_value

// Takes a denormal for zero, and so for false.
struct flushes_denormals : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_floating_point_v<Returned>) {
      if (fabs(value) < 0x1p-1022) value = 0;
    }
    return right::stored<Stored>(value);
  }
};
WRONG(flushes_denormals, failure_kind::wrong, "expected 1, found 0 ... result=bool type=float64",
      stage_of<flushes_denormals>("denormals are zero"));

// Takes x >= 9 for x > 9.
struct includes_the_limit : right {
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    if constexpr (which == function::branch)
      return x >= 9 ? 8 : 1;
    else
      return right::of_element<which>(x);
  }
};
WRONG(includes_the_limit, failure_kind::wrong, "expected 1, found 8 ... function=branch",
      stage_of<includes_the_limit>("includes the limit"));

// Extends a whole number of 32 bits by zeros instead of its sign: -1 becomes 4294967295.
struct loses_sign : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_integral_v<Returned> && sizeof(Stored) == 8) {
      const auto low = static_cast<int>(value);
      if (low == value) return static_cast<Stored>(static_cast<unsigned>(low));
    }
    return right::stored<Stored>(value);
  }
};
WRONG(loses_sign, failure_kind::wrong, ", found 42949 ... function=window_sum",
      stage_of<loses_sign>("loses the sign"));

// Makes false of a NaN, which is not zero and so is true.
struct nan_is_false : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (sizeof(Stored) == 1 && std::is_floating_point_v<Returned>) {
      if (value != value) return 0;
    }
    return right::stored<Stored>(value);
  }
};
WRONG(nan_is_false, failure_kind::wrong, "expected 1, found 0 ... result=bool type=float64",
      stage_of<nan_is_false>("NaN is false"));

// Reads a whole number of 64 bits as an int.
struct reads_as_int : right {
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    if constexpr (std::is_integral_v<Value>)
      return right::of_element<which>(static_cast<Value>(static_cast<int>(x)));
    return right::of_element<which>(x);
  }
};
WRONG(reads_as_int, failure_kind::wrong, "wrong at index ... type=int64",
      stage_of<reads_as_int>("reads values as int"));

// Rounds a real number to the nearest whole one, where a conversion cuts its fraction off.
struct rounds_to_nearest : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_same_v<Stored, std::int64_t> && std::is_floating_point_v<Returned>)
      return static_cast<Stored>(rint(value));
    return right::stored<Stored>(value);
  }
};
WRONG(rounds_to_nearest, failure_kind::wrong, "wrong at index ... result=int64 type=float64",
      stage_of<rounds_to_nearest>("rounds to nearest"));

// Counts one value too many against min-periods: the last incomplete window is taken for a complete one.
struct shifts_incomplete : right {
  __device__ static long long count_of(long long i, long long window) {
    return right::count_of(i, window) + 1;
  }
};
WRONG(shifts_incomplete, failure_kind::wrong, "wrong at index 1: ... function=window_sum min-periods=0",
      stage_of<shifts_incomplete>("shifts incomplete windows"));

// Leaves the first value out of every window that begins with it.
struct shortens_first_windows : right {
  __device__ static long long first_of(long long i, long long window) {
    return i + 1 < window ? 1 : right::first_of(i, window);
  }
};
WRONG(shortens_first_windows, failure_kind::wrong, "wrong at index 0: expected 1, found 0 ... min-periods=1",
      stage_of<shortens_first_windows>("shortens the first windows"));

// Squares a whole number as a double, which holds 53 bits of it.
struct squares_as_double : right {
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    if constexpr (which == function::square) {
      return static_cast<Value>(static_cast<double>(x) * static_cast<double>(x));
    } else {
      return right::of_element<which>(x);
    }
  }
};
WRONG(squares_as_double, failure_kind::wrong, "found 1000000014000000 ... function=square",
      stage_of<squares_as_double>("squares by way of a double"));

// Stores the lowest byte of a whole number where a bool is wanted.
struct stores_byte : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_integral_v<Returned> && sizeof(Stored) == 1) return static_cast<Stored>(value);
    return right::stored<Stored>(value);
  }
};
WRONG(stores_byte, failure_kind::wrong, "wrong at index 0: expected 1, found ... result=bool type=int64",
      stage_of<stores_byte>("stores a byte as a bool"));

// Subtracts the limit and looks at the sign, which wraps around for the smallest numbers.
struct subtracts_to_compare : right {
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    if constexpr (which == function::branch && std::is_integral_v<Value>) {
      const auto over = static_cast<Value>(static_cast<unsigned long long>(x) - 9);
      x = over > 0 ? 10 : 0;
    }
    return element_function<which>{}(x);
  }
};
WRONG(subtracts_to_compare, failure_kind::wrong, "expected 1, found 8 ... input=extremes",
      stage_of<subtracts_to_compare>("subtracts to compare"));

// Makes a bool of the lowest byte of a whole number: 256 is false.
struct tests_low_byte : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_integral_v<Returned> && sizeof(Stored) == 1)
      return static_cast<unsigned char>(value) != 0;
    return right::stored<Stored>(value);
  }
};
WRONG(tests_low_byte, failure_kind::wrong, "expected 1, found 0 ... result=bool type=int64",
      stage_of<tests_low_byte>("tests the lowest byte"));

}  // namespace
}  // namespace lab::udf::wrong
