// Thrust's iterators without memory of their own, tuples and pairs.
#pragma once

#include <thrust/version.h>

#include <cfloat>
#include <tuple>

#include "common/emulator/programs/thrust/memory.hpp"

namespace thrust {

using std::get;
using std::make_pair;
using std::make_tuple;
using std::pair;
using std::swap;
using std::tie;
using std::tuple;
using std::tuple_element;
using std::tuple_size;

// An iterator as the library itself uses it: a device_ptr is a plain pointer to it.
template <class Iterator>
Iterator raw_iterator(Iterator at) {
  return at;
}
template <class T>
T* raw_iterator(device_ptr<T> at) {
  return at.get();
}
template <class T>
std::reverse_iterator<T*> raw_iterator(std::reverse_iterator<device_ptr<T>> at) {
  return std::reverse_iterator<T*>(at.base().get());
}
template <class Iterator>
using raw_iterator_t = decltype(thrust::raw_iterator(std::declval<Iterator>()));

// What random access consists of. `Self` has element(n), the element n behind the first, and `at_`, where it
// is.
template <class Self, class Value, class Reference>
class random_access_facade {
 public:
  using value_type = Value;
  using reference = Reference;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using iterator_category = std::random_access_iterator_tag;

  Reference operator*() const { return self().element(at_); }
  Reference operator[](difference_type n) const { return self().element(at_ + n); }
  Self& operator+=(difference_type n) {
    at_ += n;
    return static_cast<Self&>(*this);
  }
  Self& operator-=(difference_type n) { return *this += -n; }
  Self& operator++() { return *this += 1; }
  Self& operator--() { return *this += -1; }
  Self operator++(int) {
    const Self before = self();
    ++*this;
    return before;
  }
  Self operator--(int) {
    const Self before = self();
    --*this;
    return before;
  }
  friend Self operator+(Self a, difference_type n) { return a += n; }
  friend Self operator+(difference_type n, Self a) { return a += n; }
  friend Self operator-(Self a, difference_type n) { return a -= n; }
  friend difference_type operator-(const Self& a, const Self& b) { return b.distance_to(a); }
  friend bool operator==(const Self& a, const Self& b) { return b.distance_to(a) == 0; }
  friend bool operator!=(const Self& a, const Self& b) { return b.distance_to(a) != 0; }
  friend bool operator<(const Self& a, const Self& b) { return b.distance_to(a) < 0; }
  friend bool operator>(const Self& a, const Self& b) { return b.distance_to(a) > 0; }
  friend bool operator<=(const Self& a, const Self& b) { return b.distance_to(a) <= 0; }
  friend bool operator>=(const Self& a, const Self& b) { return b.distance_to(a) >= 0; }
  difference_type distance_to(const Self& other) const { return other.at_ - at_; }

  difference_type at_ = 0;

 private:
  [[nodiscard]] const Self& self() const { return static_cast<const Self&>(*this); }
};

template <class T, class... Ignored>
class counting_iterator : public random_access_facade<counting_iterator<T, Ignored...>, T, T> {
 public:
  counting_iterator() = default;
  counting_iterator(T first) : first_(first) {}
  T element(std::ptrdiff_t n) const { return static_cast<T>(first_ + static_cast<T>(n)); }
  std::ptrdiff_t distance_to(const counting_iterator& other) const {
    return static_cast<std::ptrdiff_t>(*other) - static_cast<std::ptrdiff_t>(**this);
  }

 private:
  T first_{};
};
template <class T>
counting_iterator<T> make_counting_iterator(T first) {
  return {first};
}

template <class T, class... Ignored>
class constant_iterator : public random_access_facade<constant_iterator<T, Ignored...>, T, T> {
 public:
  constant_iterator(T value = T(), std::ptrdiff_t at = 0) : value_(value) { this->at_ = at; }
  T element(std::ptrdiff_t) const { return value_; }

 private:
  T value_;
};
template <class T>
constant_iterator<T> make_constant_iterator(T value, std::ptrdiff_t at = 0) {
  return {value, at};
}

struct discarded_element {
  template <class T>
  const discarded_element& operator=(const T&) const {
    return *this;
  }
};
template <class... Ignored>
class discard_iterator : public random_access_facade<discard_iterator<Ignored...>, int, discarded_element> {
 public:
  discard_iterator(std::ptrdiff_t at = 0) { this->at_ = at; }
  discarded_element element(std::ptrdiff_t) const { return {}; }
};
inline discard_iterator<> make_discard_iterator(std::ptrdiff_t at = 0) {
  return {at};
}

template <class Function, class Iterator, class... Ignored>
class transform_iterator
    : public random_access_facade<
          transform_iterator<Function, Iterator, Ignored...>,
          std::remove_cvref_t<std::invoke_result_t<
              const Function&, typename std::iterator_traits<raw_iterator_t<Iterator>>::reference>>,
          std::invoke_result_t<const Function&,
                               typename std::iterator_traits<raw_iterator_t<Iterator>>::reference>> {
 public:
  transform_iterator(Iterator first, Function function = Function())
      : first_(thrust::raw_iterator(first)), function_(std::move(function)) {}
  transform_iterator(const transform_iterator&) = default;
  // A lambda cannot be assigned: of two iterators that differ in their place alone it need not be.
  transform_iterator& operator=(const transform_iterator& other) {
    first_ = other.first_;
    this->at_ = other.at_;
    return *this;
  }
  decltype(auto) element(std::ptrdiff_t n) const { return function_(first_[n]); }
  std::ptrdiff_t distance_to(const transform_iterator& other) const {
    return other.first_ + other.at_ - (first_ + this->at_);
  }

 private:
  raw_iterator_t<Iterator> first_;
  Function function_;
};
template <class Function, class Iterator>
transform_iterator<Function, Iterator> make_transform_iterator(Iterator first, Function function) {
  return {first, function};
}

template <class Elements, class Numbers>
class permutation_iterator
    : public random_access_facade<permutation_iterator<Elements, Numbers>,
                                  typename std::iterator_traits<raw_iterator_t<Elements>>::value_type,
                                  typename std::iterator_traits<raw_iterator_t<Elements>>::reference> {
 public:
  permutation_iterator(Elements elements, Numbers numbers)
      : elements_(thrust::raw_iterator(elements)), numbers_(thrust::raw_iterator(numbers)) {}
  decltype(auto) element(std::ptrdiff_t n) const {
    return elements_[static_cast<std::ptrdiff_t>(numbers_[n])];
  }
  std::ptrdiff_t distance_to(const permutation_iterator& other) const {
    return other.numbers_ + other.at_ - (numbers_ + this->at_);
  }

 private:
  raw_iterator_t<Elements> elements_;
  raw_iterator_t<Numbers> numbers_;
};
template <class Elements, class Numbers>
permutation_iterator<Elements, Numbers> make_permutation_iterator(Elements elements, Numbers numbers) {
  return {elements, numbers};
}

template <class Tuple>
class zip_iterator;
template <class... Iterators>
class zip_iterator<std::tuple<Iterators...>>
    : public random_access_facade<
          zip_iterator<std::tuple<Iterators...>>,
          std::tuple<typename std::iterator_traits<raw_iterator_t<Iterators>>::value_type...>,
          std::tuple<typename std::iterator_traits<raw_iterator_t<Iterators>>::reference...>> {
 public:
  zip_iterator(const std::tuple<Iterators...>& all)
      : all_(std::apply([](const auto&... each) { return std::tuple(thrust::raw_iterator(each)...); }, all)) {
  }
  auto element(std::ptrdiff_t n) const {
    return std::apply(
        [n](const auto&... each) {
          return std::tuple<typename std::iterator_traits<raw_iterator_t<Iterators>>::reference...>(
              each[n]...);
        },
        all_);
  }
  std::ptrdiff_t distance_to(const zip_iterator& other) const {
    return std::get<0>(other.all_) + other.at_ - (std::get<0>(all_) + this->at_);
  }
  const auto& get_iterator_tuple() const { return all_; }

 private:
  std::tuple<raw_iterator_t<Iterators>...> all_;
};
template <class... Iterators>
zip_iterator<std::tuple<Iterators...>> make_zip_iterator(const std::tuple<Iterators...>& all) {
  return {all};
}
template <class First, class Second, class... Iterators>
zip_iterator<std::tuple<First, Second, Iterators...>> make_zip_iterator(First first, Second second,
                                                                        Iterators... others) {
  return {std::tuple<First, Second, Iterators...>(first, second, others...)};
}
// A function of several arguments as one of a tuple.
template <class Function>
struct zip_function {
  Function function;
  template <class Tuple>
  decltype(auto) operator()(Tuple&& all) const {
    return std::apply(function, std::forward<Tuple>(all));
  }
};
template <class Function>
zip_function<Function> make_zip_function(Function function) {
  return {function};
}

template <class Iterator>
using reverse_iterator = std::reverse_iterator<Iterator>;
template <class Iterator>
std::reverse_iterator<Iterator> make_reverse_iterator(Iterator at) {
  return std::reverse_iterator<Iterator>(at);
}
template <class Iterator>
using iterator_traits = std::iterator_traits<Iterator>;
template <class Iterator>
using iterator_value = std::iterator_traits<Iterator>;
template <class Iterator, class Distance>
void advance(Iterator& at, Distance n) {
  std::advance(at, n);
}
template <class Iterator>
auto distance(Iterator first, Iterator last) {
  return last - first;
}
template <class Iterator>
Iterator next(Iterator at, std::ptrdiff_t n = 1) {
  return at + n;
}
template <class Iterator>
Iterator prev(Iterator at, std::ptrdiff_t n = 1) {
  return at - n;
}

}  // namespace thrust
