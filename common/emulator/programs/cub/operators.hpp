// CUB's function objects and pairs.
#pragma once

// CUB's own headers include these, so programs use what they declare.
#include <atomic>
#include <cassert>
#include <cfloat>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <set>

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

}  // namespace cub
