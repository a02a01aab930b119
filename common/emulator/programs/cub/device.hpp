// CUB's algorithms for the whole device, done on the host by Thrust's. As CUB's they are called twice:
// without temporary memory they say how many bytes of it they need, which is one.
#pragma once

#include <limits>

#include "common/emulator/programs/cub/operators.hpp"
#include "common/emulator/programs/thrust/algorithms.hpp"

namespace cub {

// Whether this is the first of the two calls.
inline bool only_asks(void* temporary, std::size_t& bytes) {
  if (temporary == nullptr) bytes = 1;
  return temporary == nullptr;
}
template <class Iterator, class T>
void write_one(Iterator to, const T& value) {
  const lab::emulator::device_access access;
  *thrust::raw_iterator(to) = value;
}

struct DeviceReduce {
  template <class In, class Out, class Combine, class T>
  static cudaError_t Reduce(void* temporary, std::size_t& bytes, In in, Out out, std::ptrdiff_t count,
                            Combine combine, T first, cudaStream_t = nullptr) {
    if (!only_asks(temporary, bytes)) write_one(out, thrust::reduce(in, in + count, first, combine));
    return cudaSuccess;
  }
  template <class In, class Out>
  static cudaError_t Sum(void* temporary, std::size_t& bytes, In in, Out out, std::ptrdiff_t count,
                         cudaStream_t = nullptr) {
    using sum = std::remove_cvref_t<decltype(*thrust::raw_iterator(out))>;
    return Reduce(temporary, bytes, in, out, count, cub::Sum(), sum{});
  }
  template <class In, class Out>
  static cudaError_t Max(void* temporary, std::size_t& bytes, In in, Out out, std::ptrdiff_t count,
                         cudaStream_t = nullptr) {
    return Reduce(temporary, bytes, in, out, count, cub::Max(),
                  std::numeric_limits<thrust::value_of<In>>::lowest());
  }
  template <class In, class Out>
  static cudaError_t Min(void* temporary, std::size_t& bytes, In in, Out out, std::ptrdiff_t count,
                         cudaStream_t = nullptr) {
    return Reduce(temporary, bytes, in, out, count, cub::Min(),
                  std::numeric_limits<thrust::value_of<In>>::max());
  }
  template <class In, class Out>
  static cudaError_t ArgMax(void* temporary, std::size_t& bytes, In in, Out out, std::ptrdiff_t count,
                            cudaStream_t = nullptr) {
    return arg(temporary, bytes, in, out,
               thrust::max_element(in, only_asks(temporary, bytes) ? in : in + count));
  }
  template <class In, class Out>
  static cudaError_t ArgMin(void* temporary, std::size_t& bytes, In in, Out out, std::ptrdiff_t count,
                            cudaStream_t = nullptr) {
    return arg(temporary, bytes, in, out,
               thrust::min_element(in, only_asks(temporary, bytes) ? in : in + count));
  }
  template <class Keys, class OutKeys, class Values, class OutValues, class Number, class Combine>
  static cudaError_t ReduceByKey(void* temporary, std::size_t& bytes, Keys keys, OutKeys out_keys,
                                 Values values, OutValues out_values, Number number, Combine combine,
                                 std::ptrdiff_t count, cudaStream_t = nullptr) {
    if (only_asks(temporary, bytes)) return cudaSuccess;
    const auto ends =
        thrust::reduce_by_key(keys, keys + count, values, out_keys, out_values, std::equal_to<>(), combine);
    write_one(number, ends.first - out_keys);
    return cudaSuccess;
  }

 private:
  template <class In, class Out>
  static cudaError_t arg(void* temporary, std::size_t& bytes, In in, Out out, In found) {
    if (only_asks(temporary, bytes)) return cudaSuccess;
    const lab::emulator::device_access access;
    auto& result = *thrust::raw_iterator(out);
    result.key = static_cast<decltype(result.key)>(found - in);
    result.value = *thrust::raw_iterator(found);
    return cudaSuccess;
  }
};

struct DeviceSegmentedReduce {
  template <class In, class Out, class Begins, class Ends, class Combine, class T>
  static cudaError_t Reduce(void* temporary, std::size_t& bytes, In in, Out out, std::ptrdiff_t segments,
                            Begins begins, Ends ends, Combine combine, T first, cudaStream_t = nullptr) {
    if (only_asks(temporary, bytes)) return cudaSuccess;
    const lab::emulator::device_access access;
    for (std::ptrdiff_t i = 0; i < segments; ++i)
      thrust::raw_iterator(out)[i] = thrust::reduce(in + thrust::raw_iterator(begins)[i],
                                                    in + thrust::raw_iterator(ends)[i], first, combine);
    return cudaSuccess;
  }
  template <class In, class Out, class Begins, class Ends>
  static cudaError_t Sum(void* temporary, std::size_t& bytes, In in, Out out, std::ptrdiff_t segments,
                         Begins begins, Ends ends, cudaStream_t = nullptr) {
    return Reduce(temporary, bytes, in, out, segments, begins, ends, cub::Sum(), thrust::value_of<In>{});
  }
  template <class In, class Out, class Begins, class Ends>
  static cudaError_t Max(void* temporary, std::size_t& bytes, In in, Out out, std::ptrdiff_t segments,
                         Begins begins, Ends ends, cudaStream_t = nullptr) {
    return Reduce(temporary, bytes, in, out, segments, begins, ends, cub::Max(),
                  std::numeric_limits<thrust::value_of<In>>::lowest());
  }
  template <class In, class Out, class Begins, class Ends>
  static cudaError_t Min(void* temporary, std::size_t& bytes, In in, Out out, std::ptrdiff_t segments,
                         Begins begins, Ends ends, cudaStream_t = nullptr) {
    return Reduce(temporary, bytes, in, out, segments, begins, ends, cub::Min(),
                  std::numeric_limits<thrust::value_of<In>>::max());
  }
};

struct DeviceScan {
  template <class In, class Out>
  static cudaError_t ExclusiveSum(void* temporary, std::size_t& bytes, In in, Out out, std::ptrdiff_t count,
                                  cudaStream_t = nullptr) {
    if (!only_asks(temporary, bytes)) thrust::exclusive_scan(in, in + count, out);
    return cudaSuccess;
  }
  template <class In, class Out>
  static cudaError_t InclusiveSum(void* temporary, std::size_t& bytes, In in, Out out, std::ptrdiff_t count,
                                  cudaStream_t = nullptr) {
    if (!only_asks(temporary, bytes)) thrust::inclusive_scan(in, in + count, out);
    return cudaSuccess;
  }
  template <class In, class Out, class Combine, class T>
  static cudaError_t ExclusiveScan(void* temporary, std::size_t& bytes, In in, Out out, Combine combine,
                                   T first, std::ptrdiff_t count, cudaStream_t = nullptr) {
    if (!only_asks(temporary, bytes)) thrust::exclusive_scan(in, in + count, out, first, combine);
    return cudaSuccess;
  }
  template <class In, class Out, class Combine>
  static cudaError_t InclusiveScan(void* temporary, std::size_t& bytes, In in, Out out, Combine combine,
                                   std::ptrdiff_t count, cudaStream_t = nullptr) {
    if (!only_asks(temporary, bytes)) thrust::inclusive_scan(in, in + count, out, combine);
    return cudaSuccess;
  }
  // In place.
  template <class It>
  static cudaError_t ExclusiveSum(void* temporary, std::size_t& bytes, It it, std::ptrdiff_t count,
                                  cudaStream_t = nullptr) {
    return ExclusiveSum(temporary, bytes, it, it, count);
  }
  template <class It>
  static cudaError_t InclusiveSum(void* temporary, std::size_t& bytes, It it, std::ptrdiff_t count,
                                  cudaStream_t = nullptr) {
    return InclusiveSum(temporary, bytes, it, it, count);
  }
};

template <class T>
struct DoubleBuffer {
  T* d_buffers[2] = {};
  int selector = 0;
  DoubleBuffer() = default;
  DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};

struct DeviceRadixSort {
  template <class Key>
  static cudaError_t SortKeys(void* temporary, std::size_t& bytes, const Key* in, Key* out,
                              std::ptrdiff_t count, int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                              cudaStream_t = nullptr) {
    return keys(temporary, bytes, in, out, count, {begin_bit, end_bit, false});
  }
  template <class Key>
  static cudaError_t SortKeysDescending(void* temporary, std::size_t& bytes, const Key* in, Key* out,
                                        std::ptrdiff_t count, int begin_bit = 0,
                                        int end_bit = sizeof(Key) * 8, cudaStream_t = nullptr) {
    return keys(temporary, bytes, in, out, count, {begin_bit, end_bit, true});
  }
  template <class Key>
  static cudaError_t SortKeys(void* temporary, std::size_t& bytes, DoubleBuffer<Key>& buffer,
                              std::ptrdiff_t count, int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                              cudaStream_t = nullptr) {
    if (!only_asks(temporary, bytes)) {
      keys(temporary, bytes, buffer.Current(), buffer.Alternate(), count, {begin_bit, end_bit, false});
      buffer.selector ^= 1;
    }
    return cudaSuccess;
  }
  template <class Key, class Value>
  static cudaError_t SortPairs(void* temporary, std::size_t& bytes, const Key* in, Key* out,
                               const Value* values, Value* out_values, std::ptrdiff_t count,
                               int begin_bit = 0, int end_bit = sizeof(Key) * 8, cudaStream_t = nullptr) {
    return pairs(temporary, bytes, in, out, values, out_values, count, {begin_bit, end_bit, false});
  }
  template <class Key, class Value>
  static cudaError_t SortPairsDescending(void* temporary, std::size_t& bytes, const Key* in, Key* out,
                                         const Value* values, Value* out_values, std::ptrdiff_t count,
                                         int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                                         cudaStream_t = nullptr) {
    return pairs(temporary, bytes, in, out, values, out_values, count, {begin_bit, end_bit, true});
  }
  template <class Key, class Value>
  static cudaError_t SortPairs(void* temporary, std::size_t& bytes, DoubleBuffer<Key>& buffer,
                               DoubleBuffer<Value>& values, std::ptrdiff_t count, int begin_bit = 0,
                               int end_bit = sizeof(Key) * 8, cudaStream_t = nullptr) {
    if (!only_asks(temporary, bytes)) {
      pairs(temporary, bytes, buffer.Current(), buffer.Alternate(), values.Current(), values.Alternate(),
            count, {begin_bit, end_bit, false});
      buffer.selector ^= 1;
      values.selector ^= 1;
    }
    return cudaSuccess;
  }

 private:
  template <class Key>
  static cudaError_t keys(void* temporary, std::size_t& bytes, const Key* in, Key* out, std::ptrdiff_t count,
                          by_bits less) {
    if (only_asks(temporary, bytes)) return cudaSuccess;
    thrust::copy(in, in + count, out);
    thrust::stable_sort(out, out + count, less);
    return cudaSuccess;
  }
  template <class Key, class Value>
  static cudaError_t pairs(void* temporary, std::size_t& bytes, const Key* in, Key* out, const Value* values,
                           Value* out_values, std::ptrdiff_t count, by_bits less) {
    if (only_asks(temporary, bytes)) return cudaSuccess;
    thrust::copy(in, in + count, out);
    thrust::copy(values, values + count, out_values);
    thrust::stable_sort_by_key(out, out + count, out_values, less);
    return cudaSuccess;
  }
};

struct DeviceSelect {
  template <class In, class Flags, class Out, class Number>
  static cudaError_t Flagged(void* temporary, std::size_t& bytes, In in, Flags flags, Out out, Number number,
                             std::ptrdiff_t count, cudaStream_t = nullptr) {
    if (only_asks(temporary, bytes)) return cudaSuccess;
    write_one(number,
              thrust::copy_if(in, in + count, flags, out, [](const auto& flag) { return flag != 0; }) - out);
    return cudaSuccess;
  }
  template <class In, class Out, class Number, class Predicate>
  static cudaError_t If(void* temporary, std::size_t& bytes, In in, Out out, Number number,
                        std::ptrdiff_t count, Predicate predicate, cudaStream_t = nullptr) {
    if (only_asks(temporary, bytes)) return cudaSuccess;
    write_one(number, thrust::copy_if(in, in + count, out, predicate) - out);
    return cudaSuccess;
  }
  template <class In, class Out, class Number>
  static cudaError_t Unique(void* temporary, std::size_t& bytes, In in, Out out, Number number,
                            std::ptrdiff_t count, cudaStream_t = nullptr) {
    if (only_asks(temporary, bytes)) return cudaSuccess;
    write_one(number, thrust::unique_copy(in, in + count, out) - out);
    return cudaSuccess;
  }
};

// What is selected comes first, and the others behind it from the last to the first.
struct DevicePartition {
  template <class In, class Flags, class Out, class Number>
  static cudaError_t Flagged(void* temporary, std::size_t& bytes, In in, Flags flags, Out out, Number number,
                             std::ptrdiff_t count, cudaStream_t = nullptr) {
    return partition(temporary, bytes, in, out, number, count,
                     [=](std::ptrdiff_t i) { return static_cast<bool>(thrust::raw_iterator(flags)[i]); });
  }
  template <class In, class Out, class Number, class Predicate>
  static cudaError_t If(void* temporary, std::size_t& bytes, In in, Out out, Number number,
                        std::ptrdiff_t count, Predicate predicate, cudaStream_t = nullptr) {
    return partition(temporary, bytes, in, out, number, count, [=](std::ptrdiff_t i) {
      return static_cast<bool>(predicate(thrust::raw_iterator(in)[i]));
    });
  }

 private:
  template <class In, class Out, class Number, class Selects>
  static cudaError_t partition(void* temporary, std::size_t& bytes, In in, Out out, Number number,
                               std::ptrdiff_t count, Selects selects) {
    if (only_asks(temporary, bytes)) return cudaSuccess;
    const lab::emulator::device_access access;
    std::ptrdiff_t first = 0, last = count;
    for (std::ptrdiff_t i = 0; i < count; ++i)
      thrust::raw_iterator(out)[selects(i) ? first++ : --last] = thrust::raw_iterator(in)[i];
    write_one(number, first);
    return cudaSuccess;
  }
};

struct DeviceMergeSort {
  template <class Keys, class Less>
  static cudaError_t SortKeys(void* temporary, std::size_t& bytes, Keys keys, std::ptrdiff_t count, Less less,
                              cudaStream_t = nullptr) {
    if (!only_asks(temporary, bytes)) thrust::stable_sort(keys, keys + count, less);
    return cudaSuccess;
  }
  template <class In, class Out, class Less>
  static cudaError_t SortKeysCopy(void* temporary, std::size_t& bytes, In in, Out out, std::ptrdiff_t count,
                                  Less less, cudaStream_t = nullptr) {
    if (only_asks(temporary, bytes)) return cudaSuccess;
    thrust::copy(in, in + count, out);
    return SortKeys(temporary, bytes, out, count, less);
  }
  template <class Keys, class Values, class Less>
  static cudaError_t SortPairs(void* temporary, std::size_t& bytes, Keys keys, Values values,
                               std::ptrdiff_t count, Less less, cudaStream_t = nullptr) {
    if (!only_asks(temporary, bytes)) thrust::stable_sort_by_key(keys, keys + count, values, less);
    return cudaSuccess;
  }
  template <class Keys, class Less>
  static cudaError_t StableSortKeys(void* temporary, std::size_t& bytes, Keys keys, std::ptrdiff_t count,
                                    Less less, cudaStream_t = nullptr) {
    return SortKeys(temporary, bytes, keys, count, less);
  }
  template <class Keys, class Values, class Less>
  static cudaError_t StableSortPairs(void* temporary, std::size_t& bytes, Keys keys, Values values,
                                     std::ptrdiff_t count, Less less, cudaStream_t = nullptr) {
    return SortPairs(temporary, bytes, keys, values, count, less);
  }
};

struct DeviceFor {
  template <class Count, class Function>
  static cudaError_t Bulk(Count count, Function function, cudaStream_t = nullptr) {
    const lab::emulator::device_access access;
    for (Count i = 0; i < count; ++i) function(i);
    return cudaSuccess;
  }
  template <class In, class Function>
  static cudaError_t ForEachN(In in, std::ptrdiff_t count, Function function, cudaStream_t = nullptr) {
    thrust::for_each(in, in + count, function);
    return cudaSuccess;
  }
  template <class In, class Function>
  static cudaError_t ForEach(In first, In last, Function function, cudaStream_t = nullptr) {
    return ForEachN(first, last - first, function);
  }
  // With temporary memory, which they do not need.
  template <class Count, class Function>
  static cudaError_t Bulk(void* temporary, std::size_t& bytes, Count count, Function function,
                          cudaStream_t = nullptr) {
    return only_asks(temporary, bytes) ? cudaSuccess : Bulk(count, function);
  }
  template <class In, class Function>
  static cudaError_t ForEachN(void* temporary, std::size_t& bytes, In in, std::ptrdiff_t count,
                              Function function, cudaStream_t = nullptr) {
    return only_asks(temporary, bytes) ? cudaSuccess : ForEachN(in, count, function);
  }
};

struct DeviceRunLengthEncode {
  template <class In, class Out, class Lengths, class Number>
  static cudaError_t Encode(void* temporary, std::size_t& bytes, In in, Out out, Lengths lengths,
                            Number number, std::ptrdiff_t count, cudaStream_t = nullptr) {
    return DeviceReduce::ReduceByKey(temporary, bytes, in, out, thrust::make_constant_iterator(1), lengths,
                                     number, cub::Sum(), count);
  }
};

struct DeviceHistogram {
  // `levels` - 1 bins of the same width from `least` to `end`; what is outside of them is not counted.
  template <class In, class Counter, class Level>
  static cudaError_t HistogramEven(void* temporary, std::size_t& bytes, In in, Counter* bins, int levels,
                                   Level least, Level end, std::ptrdiff_t count, cudaStream_t = nullptr) {
    if (only_asks(temporary, bytes)) return cudaSuccess;
    const lab::emulator::device_access access;
    std::fill(bins, bins + levels - 1, Counter{});
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const auto sample = static_cast<double>(thrust::raw_iterator(in)[i]);
      const auto first = static_cast<double>(least), last = static_cast<double>(end);
      if (sample < first || sample >= last) continue;
      ++bins[std::min(levels - 2, static_cast<int>((sample - first) * (levels - 1) / (last - first)))];
    }
    return cudaSuccess;
  }
};

template <class T, class Difference = std::ptrdiff_t>
using CountingInputIterator = thrust::counting_iterator<T>;
template <class T, class Difference = std::ptrdiff_t>
using ConstantInputIterator = thrust::constant_iterator<T>;
// What a function gives, as a T.
template <class T, class Function>
struct converted_result {
  Function function;
  converted_result(Function of) : function(std::move(of)) {}
  template <class Value>
  T operator()(Value&& value) const {
    return static_cast<T>(function(std::forward<Value>(value)));
  }
};
template <class T, class Function, class In, class Difference = std::ptrdiff_t>
using TransformInputIterator = thrust::transform_iterator<converted_result<T, Function>, In>;

struct CachingDeviceAllocator {
  explicit CachingDeviceAllocator(bool = false) {}
  template <class... Ignored>
  cudaError_t DeviceAllocate(void** memory, std::size_t bytes, Ignored...) {
    return cudaMalloc(memory, bytes);
  }
  cudaError_t DeviceFree(void* memory) { return cudaFree(memory); }
};
inline cudaError_t Debug(cudaError_t error, const char* file, int line) {
  if (error != cudaSuccess) std::fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(error));
  return error;
}

}  // namespace cub

#define CubDebug(error) cub::Debug(error, __FILE__, __LINE__)
#define CubDebugExit(error)                                            \
  do {                                                                 \
    if (cub::Debug(error, __FILE__, __LINE__) != cudaSuccess) exit(1); \
  } while (false)
