// CUB's function objects and pairs.
#pragma once

// CUB's own headers include these, so programs use what they declare.
#include <atomic>
#include <cassert>
#include <cfloat>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <type_traits>

namespace cub {

using Sum = std::plus<>;
using Equality = std::equal_to<>;
using Inequality = std::not_equal_to<>;
struct Max {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};
struct Min {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
template <class Key, class Value>
struct KeyValuePair {
  using key_type = Key;
  using value_type = Value;
  Key key;
  Value value;
};
struct ArgMax {
  template <class Pair>
  Pair operator()(const Pair& a, const Pair& b) const {
    return a.value < b.value || (!(b.value < a.value) && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class Pair>
  Pair operator()(const Pair& a, const Pair& b) const {
    return b.value < a.value || (!(a.value < b.value) && b.key < a.key) ? b : a;
  }
};

// Keys as a radix sort sees them: so turned that they are in order as whole numbers without a sign.
template <class Key>
struct Traits {
  using UnsignedBits = std::conditional_t<
      sizeof(Key) == 1, unsigned char,
      std::conditional_t<sizeof(Key) == 2, unsigned short,
                         std::conditional_t<sizeof(Key) == 4, unsigned, unsigned long long>>>;
  static constexpr UnsignedBits sign = static_cast<UnsignedBits>(1ull << (sizeof(Key) * 8 - 1));
  static constexpr UnsignedBits TwiddleIn(UnsignedBits key) {
    if constexpr (!std::is_integral_v<Key>)
      return static_cast<UnsignedBits>((key & sign) != 0 ? ~key : key ^ sign);
    return static_cast<UnsignedBits>(std::is_signed_v<Key> ? key ^ sign : key);
  }
  static constexpr UnsignedBits TwiddleOut(UnsignedBits key) {
    if constexpr (!std::is_integral_v<Key>)
      return static_cast<UnsignedBits>((key & sign) != 0 ? key ^ sign : ~key);
    return TwiddleIn(key);
  }
  static Key Max() { return std::numeric_limits<Key>::max(); }
  static Key Lowest() { return std::numeric_limits<Key>::lowest(); }
};
template <class Key>
struct NumericTraits : Traits<Key> {};

// The order of a radix sort: by the bits [begin, end). Of floating-point numbers (of whatever width) -0 is
// +0, and NaN comes after everything, or before if negative.
struct by_bits {
  int begin, end;
  bool down;
  template <class Key>
  bool operator()(const Key& a, const Key& b) const {
    const Key &first = down ? b : a, &second = down ? a : b;
    // Of classes the numbers of 16 bits, which turn into a float, are meant.
    if constexpr (std::is_arithmetic_v<Key> || (sizeof(Key) == 2 && std::is_convertible_v<Key, float>)) {
      return bits_of(first) < bits_of(second);
    } else {
      return first < second;
    }
  }

 private:
  template <class Key>
  [[nodiscard]] unsigned long long bits_of(Key key) const {
    typename Traits<Key>::UnsignedBits own;
    std::memcpy(&own, &key, sizeof key);
    if (!std::is_integral_v<Key> && own == Traits<Key>::sign) own = 0;
    if (end <= begin) return 0;
    const unsigned long long bits = static_cast<unsigned long long>(Traits<Key>::TwiddleIn(own)) >> begin;
    return end - begin >= 64 ? bits : bits & ((1ull << (end - begin)) - 1);
  }
};

}  // namespace cub
