// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include <algorithm>
#include <type_traits>

#include "stages/udf/compiled_functions.hpp"

// Functions of elements and windows as they should be, one thread for each output, from which each wrong
// kernel departs in one way.
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

// Compares the whole part of a real number: 9.5 is taken for 9.
namespace lab::udf::wrong::compares_whole_part {
namespace {

struct compares_whole_part : right {
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    if constexpr (which == function::choose && std::is_floating_point_v<Value>) x = trunc(x);
    return element_function<which>{}(x);
  }
};

const registration<problem> registered{"udf/compares_whole_part",
                                       stage_of<compares_whole_part>("the whole part")};

}  // namespace
}  // namespace lab::udf::wrong::compares_whole_part

// Leaves the first value out of windows of more than 60 values.
namespace lab::udf::wrong::cuts_long_windows {
namespace {

struct cuts_long_windows : right {
  __device__ static long long first_of(long long i, long long window) {
    return right::first_of(i, window) + (window > 60 && i >= window ? 1 : 0);
  }
};

const registration<problem> registered{"udf/cuts_long_windows",
                                       stage_of<cuts_long_windows>("cuts long windows")};

}  // namespace
}  // namespace lab::udf::wrong::cuts_long_windows

// Keeps 32 bits of a whole number, and fills the rest with zeros: 2 to the power of 32 becomes 0.
namespace lab::udf::wrong::cuts_to_32_bits {
namespace {

struct cuts_to_32_bits : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_integral_v<Returned> && sizeof(Stored) == 8)
      return static_cast<Stored>(static_cast<unsigned>(value));
    return right::stored<Stored>(value);
  }
};

const registration<problem> registered{"udf/cuts_to_32_bits", stage_of<cuts_to_32_bits>("cuts to 32 bits")};

}  // namespace
}  // namespace lab::udf::wrong::cuts_to_32_bits

// Works on pairs, and forgets the value that an odd n leaves over.
namespace lab::udf::wrong::drops_odd_value {
namespace {

void launch_pairs(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<right>(in, out, stream, in.n / 2 * 2);
}

const registration<problem> registered{"udf/drops_odd_value",
                                       {.idea = "drops an odd value",
                                        .launch = launch_pairs,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::udf::wrong::drops_odd_value

// Takes a denormal for zero, and so for false.
namespace lab::udf::wrong::flushes_denormals {
namespace {

struct flushes : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_floating_point_v<Returned>) {
      if (fabs(value) < 0x1p-1022) value = 0;
    }
    return right::stored<Stored>(value);
  }
};

const registration<problem> registered{"udf/flushes_denormals", stage_of<flushes>("denormals are zero")};

}  // namespace
}  // namespace lab::udf::wrong::flushes_denormals

// Takes x >= 9 for x > 9.
namespace lab::udf::wrong::includes_the_limit {
namespace {

struct includes_the_limit : right {
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    if constexpr (which == function::branch)
      return x >= 9 ? 8 : 1;
    else
      return right::of_element<which>(x);
  }
};

const registration<problem> registered{"udf/includes_the_limit",
                                       stage_of<includes_the_limit>("includes the limit")};

}  // namespace
}  // namespace lab::udf::wrong::includes_the_limit

// Extends a whole number of 32 bits by zeros instead of its sign: -1 becomes 4294967295.
namespace lab::udf::wrong::loses_sign {
namespace {

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

const registration<problem> registered{"udf/loses_sign", stage_of<loses_sign>("loses the sign")};

}  // namespace
}  // namespace lab::udf::wrong::loses_sign

// Makes false of a NaN, which is not zero and so is true.
namespace lab::udf::wrong::nan_is_false {
namespace {

struct nan_is_false : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (sizeof(Stored) == 1 && std::is_floating_point_v<Returned>) {
      if (value != value) return 0;
    }
    return right::stored<Stored>(value);
  }
};

const registration<problem> registered{"udf/nan_is_false", stage_of<nan_is_false>("NaN is false")};

}  // namespace
}  // namespace lab::udf::wrong::nan_is_false

// Reads a whole number of 64 bits as an int.
namespace lab::udf::wrong::reads_as_int {
namespace {

struct reads_as_int : right {
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    if constexpr (std::is_integral_v<Value>)
      return right::of_element<which>(static_cast<Value>(static_cast<int>(x)));
    return right::of_element<which>(x);
  }
};

const registration<problem> registered{"udf/reads_as_int", stage_of<reads_as_int>("reads values as int")};

}  // namespace
}  // namespace lab::udf::wrong::reads_as_int

// Rounds a real number to the nearest whole one, where a conversion cuts its fraction off.
namespace lab::udf::wrong::rounds_to_nearest {
namespace {

struct rounds_to_nearest : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_same_v<Stored, std::int64_t> && std::is_floating_point_v<Returned>)
      return static_cast<Stored>(rint(value));
    return right::stored<Stored>(value);
  }
};

const registration<problem> registered{"udf/rounds_to_nearest",
                                       stage_of<rounds_to_nearest>("rounds to nearest")};

}  // namespace
}  // namespace lab::udf::wrong::rounds_to_nearest

// Counts one value too many against min-periods: the last incomplete window is taken for a complete one.
namespace lab::udf::wrong::shifts_incomplete {
namespace {

struct shifts_incomplete : right {
  __device__ static long long count_of(long long i, long long window) {
    return right::count_of(i, window) + 1;
  }
};

const registration<problem> registered{"udf/shifts_incomplete",
                                       stage_of<shifts_incomplete>("shifts incomplete windows")};

}  // namespace
}  // namespace lab::udf::wrong::shifts_incomplete

// Leaves the first value out of every window that begins with it.
namespace lab::udf::wrong::shortens_first_windows {
namespace {

struct shortens_first_windows : right {
  __device__ static long long first_of(long long i, long long window) {
    return i + 1 < window ? 1 : right::first_of(i, window);
  }
};

const registration<problem> registered{"udf/shortens_first_windows",
                                       stage_of<shortens_first_windows>("shortens the first windows")};

}  // namespace
}  // namespace lab::udf::wrong::shortens_first_windows

// Squares a whole number as a double, which holds 53 bits of it.
namespace lab::udf::wrong::squares_as_double {
namespace {

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

const registration<problem> registered{"udf/squares_as_double",
                                       stage_of<squares_as_double>("squares by way of a double")};

}  // namespace
}  // namespace lab::udf::wrong::squares_as_double

// Stores the lowest byte of a whole number where a bool is wanted.
namespace lab::udf::wrong::stores_byte {
namespace {

struct stores_byte : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_integral_v<Returned> && sizeof(Stored) == 1) return static_cast<Stored>(value);
    return right::stored<Stored>(value);
  }
};

const registration<problem> registered{"udf/stores_byte", stage_of<stores_byte>("stores a byte as a bool")};

}  // namespace
}  // namespace lab::udf::wrong::stores_byte

// Subtracts the limit and looks at the sign, which wraps around for the smallest numbers.
namespace lab::udf::wrong::subtracts_to_compare {
namespace {

struct subtracts : right {
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    if constexpr (which == function::branch && std::is_integral_v<Value>) {
      const auto over = static_cast<Value>(static_cast<unsigned long long>(x) - 9);
      x = over > 0 ? 10 : 0;
    }
    return element_function<which>{}(x);
  }
};

const registration<problem> registered{"udf/subtracts_to_compare",
                                       stage_of<subtracts>("subtracts to compare")};

}  // namespace
}  // namespace lab::udf::wrong::subtracts_to_compare

// Makes a bool of the lowest byte of a whole number: 256 is false.
namespace lab::udf::wrong::tests_low_byte {
namespace {

struct tests_low_byte : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_integral_v<Returned> && sizeof(Stored) == 1)
      return static_cast<unsigned char>(value) != 0;
    return right::stored<Stored>(value);
  }
};

const registration<problem> registered{"udf/tests_low_byte",
                                       stage_of<tests_low_byte>("tests the lowest byte")};

}  // namespace
}  // namespace lab::udf::wrong::tests_low_byte
