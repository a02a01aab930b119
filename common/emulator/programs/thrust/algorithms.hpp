// Thrust's algorithms, on iterators over host or device memory, one element after the other on the host.
// Iterators that are returned have the type of those that came.
#pragma once

// Thrust's own headers include <atomic> and <cassert>, so programs use what they declare; they do not include
// <numeric>, whose std::reduce is as good a match as Thrust's.
#include <algorithm>
#include <atomic>
#include <cassert>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "common/emulator/programs/thrust/functional.hpp"
#include "common/emulator/programs/thrust/iterators.hpp"

namespace thrust {

// ---- where an algorithm runs makes no difference here

struct execution_policy_base {
  execution_policy_base on(cudaStream_t) const { return *this; }
  template <class Allocator>
  execution_policy_base operator()(Allocator&&) const {
    return *this;
  }
};
template <class T>
using execution_policy = execution_policy_base;
inline constexpr execution_policy_base host, device, seq;
using device_system_tag = execution_policy_base;
using host_system_tag = execution_policy_base;
namespace cuda {
inline constexpr execution_policy_base par, par_nosync;
}
namespace cuda_cub {
inline constexpr execution_policy_base par;
}
namespace omp {
inline constexpr execution_policy_base par;
}
template <class T>
concept policy = std::is_base_of_v<execution_policy_base, std::remove_cvref_t<T>>;

class system_error : public std::system_error {
 public:
  using std::system_error::system_error;
};
inline const std::error_category& cuda_category() {
  return std::system_category();
}
namespace system {
using thrust::system_error;
}

template <class Iterator>
using value_of = typename std::iterator_traits<raw_iterator_t<Iterator>>::value_type;

// The part of a range from `first` to where a raw iterator over the same range has come.
template <class Iterator, class Raw>
Iterator at_raw(Iterator first, Raw at) {
  return first + (at - thrust::raw_iterator(first));
}

// Of the C++ library's algorithms, by what they answer: a position in the range, and in that which they
// write.
#define LAB_THRUST_POSITION(name, ...)                                                  \
  template <class In, __VA_ARGS__>                                                      \
  In name(In first, In last, Argument argument = {}) {                                  \
    const lab::emulator::device_access access;                                          \
    return at_raw(first, std::name(raw_iterator(first), raw_iterator(last), argument)); \
  }
#define LAB_THRUST_COPY(name, ...)                                                                       \
  template <class In, class Out, __VA_ARGS__>                                                            \
  Out name(In first, In last, Out out, Argument argument = {}) {                                         \
    const lab::emulator::device_access access;                                                           \
    return at_raw(out, std::name(raw_iterator(first), raw_iterator(last), raw_iterator(out), argument)); \
  }

// ---- element by element

template <class In, class Function>
In for_each(In first, In last, Function function) {
  const lab::emulator::device_access access;
  std::for_each(raw_iterator(first), raw_iterator(last), function);
  return last;
}
template <class In, class Size, class Function>
In for_each_n(In first, Size count, Function function) {
  return thrust::for_each(first, first + count, function);
}
LAB_THRUST_COPY(transform, class Argument)
template <class A, class B, class Out, class Function>
Out transform(A first, A last, B second, Out out, Function function) {
  const lab::emulator::device_access access;
  return at_raw(out, std::transform(raw_iterator(first), raw_iterator(last), raw_iterator(second),
                                    raw_iterator(out), function));
}
template <class In, class Out, class Function, class Predicate>
Out transform_if(In first, In last, Out out, Function function, Predicate predicate) {
  const lab::emulator::device_access access;
  const auto from = raw_iterator(first);
  const auto to = raw_iterator(out);
  for (std::ptrdiff_t i = 0; i < last - first; ++i) {
    if (predicate(from[i])) to[i] = function(from[i]);
  }
  return out + (last - first);
}
template <class In, class Stencil, class Out, class Function, class Predicate>
Out transform_if(In first, In last, Stencil stencil, Out out, Function function, Predicate predicate) {
  const lab::emulator::device_access access;
  const auto from = raw_iterator(first);
  const auto mask = raw_iterator(stencil);
  const auto to = raw_iterator(out);
  for (std::ptrdiff_t i = 0; i < last - first; ++i) {
    if (predicate(mask[i])) to[i] = function(from[i]);
  }
  return out + (last - first);
}
template <class Out, class T>
void fill(Out first, Out last, const T& value) {
  const lab::emulator::device_access access;
  std::fill(raw_iterator(first), raw_iterator(last), value);
}
template <class Out, class Size, class T>
Out fill_n(Out first, Size count, const T& value) {
  thrust::fill(first, first + count, value);
  return first + count;
}
template <class Out, class T>
void uninitialized_fill(Out first, Out last, const T& value) {
  thrust::fill(first, last, value);
}
template <class Out, class Function>
void generate(Out first, Out last, Function function) {
  const lab::emulator::device_access access;
  std::generate(raw_iterator(first), raw_iterator(last), function);
}
template <class Out, class Size, class Function>
Out generate_n(Out first, Size count, Function function) {
  thrust::generate(first, first + count, function);
  return first + count;
}
template <class Out, class Function>
void tabulate(Out first, Out last, Function function) {
  const lab::emulator::device_access access;
  const auto to = raw_iterator(first);
  for (std::ptrdiff_t i = 0; i < last - first; ++i) to[i] = function(i);
}
template <class Out, class T>
void sequence(Out first, Out last, T start, T step) {
  thrust::tabulate(first, last,
                   [&](std::ptrdiff_t i) { return static_cast<T>(start + static_cast<T>(i) * step); });
}
template <class Out, class T>
void sequence(Out first, Out last, T start) {
  thrust::sequence(first, last, start, T(1));
}
template <class Out>
void sequence(Out first, Out last) {
  thrust::sequence(first, last, value_of<Out>(0));
}
template <class In, class Out>
Out copy(In first, In last, Out out) {
  const lab::emulator::device_access access;
  if constexpr (std::is_same_v<raw_iterator_t<Out>, Out> && !requires { out + 1; }) {
    return std::copy(raw_iterator(first), raw_iterator(last), out);  // to a stream, say
  } else {
    auto to = raw_iterator(out);
    for (auto from = raw_iterator(first); from != raw_iterator(last); ++from, ++to)
      *to = static_cast<value_of<In>>(*from);
    return at_raw(out, to);
  }
}
template <class In, class Size, class Out>
Out copy_n(In first, Size count, Out out) {
  return thrust::copy(first, first + count, out);
}
template <class In, class Out>
Out uninitialized_copy(In first, In last, Out out) {
  return thrust::copy(first, last, out);
}
LAB_THRUST_COPY(copy_if, class Argument)
template <class In, class Stencil, class Out, class Predicate>
Out copy_if(In first, In last, Stencil stencil, Out out, Predicate predicate) {
  const lab::emulator::device_access access;
  const auto from = raw_iterator(first);
  const auto mask = raw_iterator(stencil);
  auto to = raw_iterator(out);
  for (std::ptrdiff_t i = 0; i < last - first; ++i) {
    if (predicate(mask[i])) *to++ = from[i];
  }
  return at_raw(out, to);
}
template <class It, class T>
void replace(It first, It last, const T& old, const T& value) {
  const lab::emulator::device_access access;
  std::replace(raw_iterator(first), raw_iterator(last), static_cast<value_of<It>>(old),
               static_cast<value_of<It>>(value));
}
template <class It, class Predicate, class T>
void replace_if(It first, It last, Predicate predicate, const T& value) {
  const lab::emulator::device_access access;
  std::replace_if(raw_iterator(first), raw_iterator(last), predicate, value);
}
template <class It, class Stencil, class Predicate, class T>
void replace_if(It first, It last, Stencil stencil, Predicate predicate, const T& value) {
  const lab::emulator::device_access access;
  const auto to = raw_iterator(first);
  const auto mask = raw_iterator(stencil);
  for (std::ptrdiff_t i = 0; i < last - first; ++i) {
    if (predicate(mask[i])) to[i] = value;
  }
}
template <class Numbers, class In, class Out>
Out gather(Numbers first, Numbers last, In in, Out out) {
  const lab::emulator::device_access access;
  const auto numbers = raw_iterator(first);
  const auto from = raw_iterator(in);
  const auto to = raw_iterator(out);
  for (std::ptrdiff_t i = 0; i < last - first; ++i) to[i] = from[static_cast<std::ptrdiff_t>(numbers[i])];
  return out + (last - first);
}
template <class In, class Numbers, class Out>
void scatter(In first, In last, Numbers map, Out out) {
  const lab::emulator::device_access access;
  const auto numbers = raw_iterator(map);
  const auto from = raw_iterator(first);
  const auto to = raw_iterator(out);
  for (std::ptrdiff_t i = 0; i < last - first; ++i) to[static_cast<std::ptrdiff_t>(numbers[i])] = from[i];
}
template <class In, class Numbers, class Stencil, class Out, class Predicate = identity<>>
void scatter_if(In first, In last, Numbers map, Stencil stencil, Out out, Predicate predicate = {}) {
  const lab::emulator::device_access access;
  const auto numbers = raw_iterator(map);
  const auto mask = raw_iterator(stencil);
  const auto from = raw_iterator(first);
  const auto to = raw_iterator(out);
  for (std::ptrdiff_t i = 0; i < last - first; ++i) {
    if (predicate(mask[i])) to[static_cast<std::ptrdiff_t>(numbers[i])] = from[i];
  }
}
// std::iter_swap, but for the elements of zipped vectors, which are references held in a tuple.
template <class A, class B>
void exchange_elements(A a, B b) {
  typename std::iterator_traits<A>::value_type value = *a;
  *a = *b;
  *b = value;
}
template <class A, class B>
B swap_ranges(A first, A last, B second) {
  const lab::emulator::device_access access;
  const auto a = raw_iterator(first);
  const auto b = raw_iterator(second);
  for (std::ptrdiff_t i = 0; i < last - first; ++i) exchange_elements(a + i, b + i);
  return at_raw(second, b + (last - first));
}
template <class It>
void reverse(It first, It last) {
  const lab::emulator::device_access access;
  const auto at = raw_iterator(first);
  const std::ptrdiff_t count = last - first;
  for (std::ptrdiff_t i = 0; i < count / 2; ++i) exchange_elements(at + i, at + (count - 1 - i));
}
template <class In, class Out>
Out reverse_copy(In first, In last, Out out) {
  const lab::emulator::device_access access;
  return at_raw(out, std::reverse_copy(raw_iterator(first), raw_iterator(last), raw_iterator(out)));
}
// The first element, and of every other one what next(state, element) makes of it; the state begins as the
// first one.
template <class In, class Out, class Next>
Out from_the_first(In first, In last, Out out, Next next) {
  const lab::emulator::device_access access;
  auto in = raw_iterator(first);
  const auto end = raw_iterator(last);
  auto to = raw_iterator(out);
  if (in == end) return out;
  using element = typename std::iterator_traits<decltype(in)>::value_type;
  element state = *in;
  for (*to = state, ++to; ++in != end; ++to) {
    const element value = *in;  // before its place is written, which may be the same
    *to = next(state, value);
  }
  return at_raw(out, to);
}
template <class In, class Out, class Function = std::minus<>>
Out adjacent_difference(In first, In last, Out out, Function function = {}) {
  return from_the_first(first, last, out, [&](auto& before, const auto& value) {
    return function(value, std::exchange(before, value));
  });
}

// ---- reductions and scans

// Sums of 1024 elements, and of those: nearer to the result of a device than one long sum.
template <class In, class T, class Function>
T reduce(In first, In last, T sum, Function function) {
  constexpr std::ptrdiff_t most = 1024;
  const lab::emulator::device_access access;
  const auto from = raw_iterator(first);
  for (std::ptrdiff_t begin = 0, count = last - first; begin < count; begin += most) {
    const std::ptrdiff_t end = std::min(begin + most, count);
    T part = static_cast<T>(from[begin]);
    for (std::ptrdiff_t i = begin + 1; i < end; ++i) part = static_cast<T>(function(part, from[i]));
    sum = static_cast<T>(function(sum, part));
  }
  return sum;
}
template <class In, class T>
T reduce(In first, In last, T sum) {
  return thrust::reduce(first, last, sum, std::plus<>());
}
template <class In>
value_of<In> reduce(In first, In last) {
  return thrust::reduce(first, last, value_of<In>(0));
}
template <class In, class Function, class T, class Combine>
T transform_reduce(In first, In last, Function function, T sum, Combine combine) {
  const auto mapped = [&](const auto& value) { return static_cast<T>(function(value)); };
  return thrust::reduce(make_transform_iterator(first, mapped), make_transform_iterator(last, mapped), sum,
                        combine);
}
template <class A, class B, class T, class Combine, class Function>
T inner_product(A first, A last, B second, T sum, Combine combine, Function function) {
  const lab::emulator::device_access access;
  const auto a = raw_iterator(first);
  const auto b = raw_iterator(second);
  return thrust::transform_reduce(
      make_counting_iterator(std::ptrdiff_t{0}), make_counting_iterator(last - first),
      [&](std::ptrdiff_t i) { return function(a[i], b[i]); }, sum, combine);
}
template <class A, class B, class T>
T inner_product(A first, A last, B second, T sum) {
  return thrust::inner_product(first, last, second, sum, std::plus<>(), std::multiplies<>());
}
template <class Keys, class Values, class OutKeys, class OutValues, class Equal = std::equal_to<>,
          class Combine = std::plus<>>
std::pair<OutKeys, OutValues> reduce_by_key(Keys first, Keys last, Values values, OutKeys out_keys,
                                            OutValues out_values, Equal equal = {}, Combine combine = {}) {
  const lab::emulator::device_access access;
  const auto keys = raw_iterator(first);
  const auto from = raw_iterator(values);
  auto to_key = raw_iterator(out_keys);
  auto to_value = raw_iterator(out_values);
  for (std::ptrdiff_t i = 0, count = last - first; i < count;) {
    const value_of<Keys> key = keys[i];
    value_of<Values> sum = from[i];
    for (++i; i < count && equal(key, keys[i]); ++i) sum = combine(sum, from[i]);
    *to_key++ = key;
    *to_value++ = sum;
  }
  return {at_raw(out_keys, to_key), at_raw(out_values, to_value)};
}
template <class In, class Out, class T, class Combine = std::plus<>>
Out exclusive_scan(In first, In last, Out out, T sum, Combine combine = {}) {
  const lab::emulator::device_access access;
  const auto from = raw_iterator(first);
  const auto to = raw_iterator(out);
  for (std::ptrdiff_t i = 0; i < last - first; ++i) {
    const T next = static_cast<T>(combine(sum, from[i]));  // `to` may be `from`
    to[i] = sum;
    sum = next;
  }
  return out + (last - first);
}
template <class In, class Out>
Out exclusive_scan(In first, In last, Out out) {
  return thrust::exclusive_scan(first, last, out, value_of<In>(0));
}
template <class In, class Out, class Combine = std::plus<>>
Out inclusive_scan(In first, In last, Out out, Combine combine = {}) {
  return from_the_first(first, last, out,
                        [&](auto& sum, const auto& value) { return sum = combine(sum, value); });
}
template <class In, class Out, class Function, class Combine>
Out transform_inclusive_scan(In first, In last, Out out, Function function, Combine combine) {
  return thrust::inclusive_scan(make_transform_iterator(first, function),
                                make_transform_iterator(last, function), out, combine);
}
template <class In, class Out, class Function, class T, class Combine>
Out transform_exclusive_scan(In first, In last, Out out, Function function, T sum, Combine combine) {
  return thrust::exclusive_scan(make_transform_iterator(first, function),
                                make_transform_iterator(last, function), out, sum, combine);
}
template <class Keys, class In, class Out, class Equal = std::equal_to<>, class Combine = std::plus<>>
Out inclusive_scan_by_key(Keys first, Keys last, In in, Out out, Equal equal = {}, Combine combine = {}) {
  const lab::emulator::device_access access;
  const auto keys = raw_iterator(first);
  const auto from = raw_iterator(in);
  const auto to = raw_iterator(out);
  for (std::ptrdiff_t i = 0; i < last - first; ++i) {
    const value_of<In> value = from[i];
    to[i] =
        i > 0 && equal(keys[i - 1], keys[i]) ? static_cast<value_of<In>>(combine(to[i - 1], value)) : value;
  }
  return out + (last - first);
}
template <class Keys, class In, class Out, class T, class Equal = std::equal_to<>,
          class Combine = std::plus<>>
Out exclusive_scan_by_key(Keys first, Keys last, In in, Out out, T start, Equal equal = {},
                          Combine combine = {}) {
  const lab::emulator::device_access access;
  const auto keys = raw_iterator(first);
  const auto from = raw_iterator(in);
  const auto to = raw_iterator(out);
  T sum = start;
  for (std::ptrdiff_t i = 0; i < last - first; ++i) {
    if (i > 0 && !equal(keys[i - 1], keys[i])) sum = start;
    const T next = static_cast<T>(combine(sum, from[i]));
    to[i] = sum;
    sum = next;
  }
  return out + (last - first);
}
template <class Keys, class In, class Out>
Out exclusive_scan_by_key(Keys first, Keys last, In in, Out out) {
  return thrust::exclusive_scan_by_key(first, last, in, out, value_of<In>(0));
}

// ---- questions

template <class In, class T>
std::ptrdiff_t count(In first, In last, const T& value) {
  const lab::emulator::device_access access;
  return std::count(raw_iterator(first), raw_iterator(last), value);
}
template <class In, class Predicate>
std::ptrdiff_t count_if(In first, In last, Predicate predicate) {
  const lab::emulator::device_access access;
  return std::count_if(raw_iterator(first), raw_iterator(last), predicate);
}
LAB_THRUST_POSITION(max_element, class Argument = std::less<>)
LAB_THRUST_POSITION(min_element, class Argument = std::less<>)
template <class In, class Less = std::less<>>
std::pair<In, In> minmax_element(In first, In last, Less less = {}) {
  return {thrust::min_element(first, last, less), thrust::max_element(first, last, less)};
}
LAB_THRUST_POSITION(find, class Argument)
LAB_THRUST_POSITION(find_if, class Argument)
LAB_THRUST_POSITION(find_if_not, class Argument)
template <class In, class Predicate>
bool all_of(In first, In last, Predicate predicate) {
  return thrust::find_if_not(first, last, predicate) == last;
}
template <class In, class Predicate>
bool any_of(In first, In last, Predicate predicate) {
  return thrust::find_if(first, last, predicate) != last;
}
template <class In, class Predicate>
bool none_of(In first, In last, Predicate predicate) {
  return !thrust::any_of(first, last, predicate);
}
template <class A, class B, class Equal = std::equal_to<>>
std::pair<A, B> mismatch(A first, A last, B second, Equal equal = {}) {
  const lab::emulator::device_access access;
  const auto found = std::mismatch(raw_iterator(first), raw_iterator(last), raw_iterator(second), equal);
  return {at_raw(first, found.first), at_raw(second, found.second)};
}
template <class A, class B, class Equal = std::equal_to<>>
bool equal(A first, A last, B second, Equal same = {}) {
  return thrust::mismatch(first, last, second, same).first == last;
}
template <class In, class Less = std::less<>>
bool is_sorted(In first, In last, Less less = {}) {
  const lab::emulator::device_access access;
  return std::is_sorted(raw_iterator(first), raw_iterator(last), less);
}
LAB_THRUST_POSITION(is_sorted_until, class Argument = std::less<>)
template <class In, class T, class Less = std::less<>>
In lower_bound(In first, In last, const T& value, Less less = {}) {
  const lab::emulator::device_access access;
  return at_raw(first, std::lower_bound(raw_iterator(first), raw_iterator(last), value, less));
}
template <class In, class T, class Less = std::less<>>
In upper_bound(In first, In last, const T& value, Less less = {}) {
  const lab::emulator::device_access access;
  return at_raw(first, std::upper_bound(raw_iterator(first), raw_iterator(last), value, less));
}
template <class In, class T, class Less = std::less<>>
bool binary_search(In first, In last, const T& value, Less less = {}) {
  const lab::emulator::device_access access;
  return std::binary_search(raw_iterator(first), raw_iterator(last), value, less);
}
// Many values at once.
template <class In, class Values, class Out>
requires requires(Out out) {
  *out;
}
Out lower_bound(In first, In last, Values values, Values values_end, Out out) {
  return thrust::transform(values, values_end, out, [&](const auto& value) {
    return thrust::lower_bound(first, last, value) - first;
  });
}
template <class In, class Values, class Out>
requires requires(Out out) {
  *out;
}
Out upper_bound(In first, In last, Values values, Values values_end, Out out) {
  return thrust::transform(values, values_end, out, [&](const auto& value) {
    return thrust::upper_bound(first, last, value) - first;
  });
}

// ---- order

// Sorts the values themselves where they are in one place, and copies of them where they are not.
template <class It, class Less = std::less<>>
void stable_sort(It first, It last, Less less = {}) {
  const lab::emulator::device_access access;
  if constexpr (std::is_pointer_v<raw_iterator_t<It>>) {
    std::stable_sort(raw_iterator(first), raw_iterator(last), less);
  } else {
    std::vector<value_of<It>> values(raw_iterator(first), raw_iterator(last));
    std::stable_sort(values.begin(), values.end(), less);
    std::copy(values.begin(), values.end(), raw_iterator(first));
  }
}
template <class It, class Less = std::less<>>
void sort(It first, It last, Less less = {}) {
  thrust::stable_sort(first, last, less);
}
template <class Keys, class Values, class Less = std::less<>>
void stable_sort_by_key(Keys first, Keys last, Values values, Less less = {}) {
  const lab::emulator::device_access access;
  const auto keys = raw_iterator(first);
  const auto of_keys = raw_iterator(values);
  const std::ptrdiff_t count = last - first;
  std::vector<std::pair<value_of<Keys>, value_of<Values>>> both;
  both.reserve(static_cast<std::size_t>(count));
  for (std::ptrdiff_t i = 0; i < count; ++i) both.emplace_back(keys[i], of_keys[i]);
  std::stable_sort(both.begin(), both.end(),
                   [&](const auto& a, const auto& b) { return less(a.first, b.first); });
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    keys[i] = both[static_cast<std::size_t>(i)].first;
    of_keys[i] = both[static_cast<std::size_t>(i)].second;
  }
}
template <class Keys, class Values, class Less = std::less<>>
void sort_by_key(Keys first, Keys last, Values values, Less less = {}) {
  thrust::stable_sort_by_key(first, last, values, less);
}
LAB_THRUST_POSITION(unique, class Argument = std::equal_to<>)
LAB_THRUST_COPY(unique_copy, class Argument = std::equal_to<>)
template <class Keys, class Values, class Equal = std::equal_to<>>
std::pair<Keys, Values> unique_by_key(Keys first, Keys last, Values values, Equal equal = {}) {
  return thrust::reduce_by_key(first, last, values, first, values, equal,
                               [](const auto& kept, const auto&) { return kept; });
}
template <class Keys, class Values, class OutKeys, class OutValues, class Equal = std::equal_to<>>
std::pair<OutKeys, OutValues> unique_by_key_copy(Keys first, Keys last, Values values, OutKeys out_keys,
                                                 OutValues out_values, Equal equal = {}) {
  return thrust::reduce_by_key(first, last, values, out_keys, out_values, equal,
                               [](const auto& kept, const auto&) { return kept; });
}
LAB_THRUST_POSITION(remove, class Argument)
LAB_THRUST_POSITION(remove_if, class Argument)
template <class It, class Stencil, class Predicate>
It remove_if(It first, It last, Stencil stencil, Predicate predicate) {
  return thrust::copy_if(first, last, stencil, first, [&](const auto& one) { return !predicate(one); });
}
LAB_THRUST_COPY(remove_copy, class Argument)
LAB_THRUST_COPY(remove_copy_if, class Argument)
LAB_THRUST_POSITION(stable_partition, class Argument)
template <class It, class Predicate>
It partition(It first, It last, Predicate predicate) {
  return thrust::stable_partition(first, last, predicate);
}
#define LAB_THRUST_SET_OPERATION(name)                                                         \
  template <class A, class B, class Out, class Less = std::less<>>                             \
  Out name(A first, A last, B other, B other_end, Out out, Less less = {}) {                   \
    const lab::emulator::device_access access;                                                 \
    return at_raw(out, std::name(raw_iterator(first), raw_iterator(last), raw_iterator(other), \
                                 raw_iterator(other_end), raw_iterator(out), less));           \
  }
LAB_THRUST_SET_OPERATION(merge)
LAB_THRUST_SET_OPERATION(set_union)
LAB_THRUST_SET_OPERATION(set_intersection)
LAB_THRUST_SET_OPERATION(set_difference)
LAB_THRUST_SET_OPERATION(set_symmetric_difference)
#undef LAB_THRUST_SET_OPERATION
#undef LAB_THRUST_COPY
#undef LAB_THRUST_POSITION
template <class In, class RandomEngine>
void shuffle(In first, In last, RandomEngine&& engine) {
  const lab::emulator::device_access access;
  const auto at = raw_iterator(first);
  for (std::ptrdiff_t left = last - first; left > 1; --left)
    exchange_elements(at + (left - 1), at + static_cast<std::ptrdiff_t>(engine()) % left);
}

// Each of them with a policy in front.
#define LAB_THRUST_WITH_POLICY(name)                           \
  template <policy Policy, class... Arguments>                 \
  decltype(auto) name(const Policy&, Arguments... arguments) { \
    return ::thrust::name(arguments...);                       \
  }
LAB_THRUST_WITH_POLICY(for_each)
LAB_THRUST_WITH_POLICY(for_each_n)
LAB_THRUST_WITH_POLICY(transform)
LAB_THRUST_WITH_POLICY(transform_if)
LAB_THRUST_WITH_POLICY(fill)
LAB_THRUST_WITH_POLICY(fill_n)
LAB_THRUST_WITH_POLICY(uninitialized_fill)
LAB_THRUST_WITH_POLICY(generate)
LAB_THRUST_WITH_POLICY(generate_n)
LAB_THRUST_WITH_POLICY(tabulate)
LAB_THRUST_WITH_POLICY(sequence)
LAB_THRUST_WITH_POLICY(copy)
LAB_THRUST_WITH_POLICY(copy_n)
LAB_THRUST_WITH_POLICY(copy_if)
LAB_THRUST_WITH_POLICY(replace)
LAB_THRUST_WITH_POLICY(replace_if)
LAB_THRUST_WITH_POLICY(gather)
LAB_THRUST_WITH_POLICY(scatter)
LAB_THRUST_WITH_POLICY(scatter_if)
LAB_THRUST_WITH_POLICY(swap_ranges)
LAB_THRUST_WITH_POLICY(reverse)
LAB_THRUST_WITH_POLICY(reverse_copy)
LAB_THRUST_WITH_POLICY(adjacent_difference)
LAB_THRUST_WITH_POLICY(reduce)
LAB_THRUST_WITH_POLICY(transform_reduce)
LAB_THRUST_WITH_POLICY(inner_product)
LAB_THRUST_WITH_POLICY(reduce_by_key)
LAB_THRUST_WITH_POLICY(exclusive_scan)
LAB_THRUST_WITH_POLICY(inclusive_scan)
LAB_THRUST_WITH_POLICY(transform_inclusive_scan)
LAB_THRUST_WITH_POLICY(transform_exclusive_scan)
LAB_THRUST_WITH_POLICY(inclusive_scan_by_key)
LAB_THRUST_WITH_POLICY(exclusive_scan_by_key)
LAB_THRUST_WITH_POLICY(count)
LAB_THRUST_WITH_POLICY(count_if)
LAB_THRUST_WITH_POLICY(max_element)
LAB_THRUST_WITH_POLICY(min_element)
LAB_THRUST_WITH_POLICY(minmax_element)
LAB_THRUST_WITH_POLICY(find)
LAB_THRUST_WITH_POLICY(find_if)
LAB_THRUST_WITH_POLICY(find_if_not)
LAB_THRUST_WITH_POLICY(all_of)
LAB_THRUST_WITH_POLICY(any_of)
LAB_THRUST_WITH_POLICY(none_of)
LAB_THRUST_WITH_POLICY(mismatch)
LAB_THRUST_WITH_POLICY(equal)
LAB_THRUST_WITH_POLICY(is_sorted)
LAB_THRUST_WITH_POLICY(is_sorted_until)
LAB_THRUST_WITH_POLICY(lower_bound)
LAB_THRUST_WITH_POLICY(upper_bound)
LAB_THRUST_WITH_POLICY(binary_search)
LAB_THRUST_WITH_POLICY(stable_sort)
LAB_THRUST_WITH_POLICY(sort)
LAB_THRUST_WITH_POLICY(stable_sort_by_key)
LAB_THRUST_WITH_POLICY(sort_by_key)
LAB_THRUST_WITH_POLICY(unique)
LAB_THRUST_WITH_POLICY(unique_copy)
LAB_THRUST_WITH_POLICY(unique_by_key)
LAB_THRUST_WITH_POLICY(unique_by_key_copy)
LAB_THRUST_WITH_POLICY(remove)
LAB_THRUST_WITH_POLICY(remove_if)
LAB_THRUST_WITH_POLICY(remove_copy)
LAB_THRUST_WITH_POLICY(remove_copy_if)
LAB_THRUST_WITH_POLICY(stable_partition)
LAB_THRUST_WITH_POLICY(partition)
LAB_THRUST_WITH_POLICY(merge)
LAB_THRUST_WITH_POLICY(set_union)
LAB_THRUST_WITH_POLICY(set_intersection)
LAB_THRUST_WITH_POLICY(set_difference)
LAB_THRUST_WITH_POLICY(set_symmetric_difference)
LAB_THRUST_WITH_POLICY(shuffle)
#undef LAB_THRUST_WITH_POLICY

}  // namespace thrust
