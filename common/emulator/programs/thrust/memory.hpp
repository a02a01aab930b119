// Thrust's memory: pointers and references to the device's, and the two vectors. Elements of a device_vector
// lie in device memory, so kernels' accesses to them are checked as any others.
#pragma once

#include <cuda_runtime.h>

#include <compare>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <ostream>
#include <type_traits>
#include <utility>
#include <vector>

namespace thrust {

template <class T>
class device_ptr;

// An element of device memory, which host code reads and writes through it.
template <class T>
class device_reference {
 public:
  using value_type = std::remove_cv_t<T>;
  using pointer = device_ptr<T>;
  explicit device_reference(T* address) : address_(address) {}
  device_reference(const device_reference&) = default;

  operator value_type() const { return get(); }
  device_reference& operator=(const value_type& value) {
    const lab::emulator::device_access access;
    *address_ = value;
    return *this;
  }
  device_reference& operator=(const device_reference& other) { return *this = other.get(); }
  template <class U>
  device_reference& operator=(const device_reference<U>& other) {
    return *this = static_cast<value_type>(other.get());
  }
  device_ptr<T> operator&() const { return device_ptr<T>(address_); }
  value_type get() const {
    const lab::emulator::device_access access;
    return *address_;
  }
  device_reference& operator+=(const value_type& value) { return *this = get() + value; }
  device_reference& operator-=(const value_type& value) { return *this = get() - value; }
  device_reference& operator*=(const value_type& value) { return *this = get() * value; }
  device_reference& operator/=(const value_type& value) { return *this = get() / value; }
  device_reference& operator++() { return *this = get() + 1; }
  value_type operator++(int) {
    const value_type before = get();
    *this = before + 1;
    return before;
  }
  device_reference& operator--() { return *this = get() - 1; }
  friend void swap(device_reference a, device_reference b) {
    const value_type kept = a.get();
    a = b.get();
    b = kept;
  }
  template <class Character, class Traits>
  friend std::basic_ostream<Character, Traits>& operator<<(std::basic_ostream<Character, Traits>& stream,
                                                           const device_reference& one) {
    return stream << one.get();
  }

 private:
  T* address_;
};

template <class T>
class device_ptr {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using difference_type = std::ptrdiff_t;
  using reference = device_reference<T>;
  using pointer = device_ptr;
  using iterator_category = std::random_access_iterator_tag;

  device_ptr() = default;
  device_ptr(std::nullptr_t) {}
  explicit device_ptr(T* address) : address_(address) {}
  template <class U>
  requires(std::is_convertible_v<U*, T*>) device_ptr(const device_ptr<U>& other) : address_(other.get()) {}

  T* get() const { return address_; }
  reference operator*() const { return reference(address_); }
  reference operator[](difference_type at) const { return reference(address_ + at); }
  explicit operator bool() const { return address_ != nullptr; }
  device_ptr& operator+=(difference_type n) {
    address_ += n;
    return *this;
  }
  device_ptr& operator-=(difference_type n) { return *this += -n; }
  device_ptr& operator++() { return *this += 1; }
  device_ptr& operator--() { return *this += -1; }
  device_ptr operator++(int) {
    const device_ptr before = *this;
    ++*this;
    return before;
  }
  device_ptr operator--(int) {
    const device_ptr before = *this;
    --*this;
    return before;
  }
  friend device_ptr operator+(device_ptr at, difference_type n) { return at += n; }
  friend device_ptr operator+(difference_type n, device_ptr at) { return at += n; }
  friend device_ptr operator-(device_ptr at, difference_type n) { return at -= n; }
  template <class U>
  difference_type operator-(const device_ptr<U>& other) const {
    return address_ - other.get();
  }
  template <class U>
  bool operator==(const device_ptr<U>& other) const {
    return address_ == other.get();
  }
  template <class U>
  std::strong_ordering operator<=>(const device_ptr<U>& other) const {
    return address_ <=> other.get();
  }

 private:
  T* address_ = nullptr;
};

template <class T>
T* raw_pointer_cast(T* pointer) {
  return pointer;
}
template <class T>
T* raw_pointer_cast(device_ptr<T> pointer) {
  return pointer.get();
}
template <class T>
device_ptr<T> device_pointer_cast(T* pointer) {
  return device_ptr<T>(pointer);
}
template <class T>
device_ptr<T> device_pointer_cast(device_ptr<T> pointer) {
  return pointer;
}
template <class T>
T& raw_reference_cast(T& reference) {
  return reference;
}
template <class T>
T& raw_reference_cast(device_reference<T> reference) {
  return *(&reference).get();
}

template <class T>
device_ptr<T> device_malloc(std::size_t count) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, count * sizeof(T)) != cudaSuccess) throw std::bad_alloc();
  return device_ptr<T>(static_cast<T*>(memory));
}
inline device_ptr<char> device_malloc(std::size_t bytes) {
  return device_malloc<char>(bytes);
}
template <class T>
void device_free(device_ptr<T> pointer) {
  cudaFree(const_cast<std::remove_cv_t<T>*>(pointer.get()));
}

enum class vector_memory { host, device, universal };

// A vector of elements in host memory, or in the device's.
template <class T, vector_memory Memory>
class basic_vector {
  static constexpr bool is_host = Memory == vector_memory::host;

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using pointer = std::conditional_t<Memory == vector_memory::device, device_ptr<T>, T*>;
  using const_pointer = std::conditional_t<Memory == vector_memory::device, device_ptr<const T>, const T*>;
  using iterator = pointer;
  using const_iterator = const_pointer;
  using reference = std::conditional_t<Memory == vector_memory::device, device_reference<T>, T&>;
  using const_reference =
      std::conditional_t<Memory == vector_memory::device, device_reference<const T>, const T&>;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  basic_vector() = default;
  explicit basic_vector(size_type count) { resize(count); }
  basic_vector(size_type count, const T& value) { resize(count, value); }
  template <std::input_iterator Iterator>
  basic_vector(Iterator first, Iterator last) {
    take(first, last);
  }
  basic_vector(std::initializer_list<T> values) { take(values.begin(), values.end()); }
  basic_vector(const basic_vector& other) { take(other.raw(), other.raw() + other.size_); }
  basic_vector(basic_vector&& other) noexcept { swap(other); }
  template <class U, vector_memory Other>
  basic_vector(const basic_vector<U, Other>& other) {
    take(other.raw(), other.raw() + other.size());
  }
  template <class U, class Allocator>
  basic_vector(const std::vector<U, Allocator>& other) {
    take(other.begin(), other.end());
  }
  ~basic_vector() { release(); }

  basic_vector& operator=(const basic_vector& other) {
    if (this != &other) take(other.raw(), other.raw() + other.size_);
    return *this;
  }
  basic_vector& operator=(basic_vector&& other) noexcept {
    swap(other);
    return *this;
  }
  template <class U, vector_memory Other>
  basic_vector& operator=(const basic_vector<U, Other>& other) {
    take(other.raw(), other.raw() + other.size());
    return *this;
  }
  template <class U, class Allocator>
  basic_vector& operator=(const std::vector<U, Allocator>& other) {
    take(other.begin(), other.end());
    return *this;
  }
  basic_vector& operator=(std::initializer_list<T> values) {
    take(values.begin(), values.end());
    return *this;
  }

  iterator begin() { return iterator(data_); }
  iterator end() { return begin() + static_cast<difference_type>(size_); }
  const_iterator begin() const { return const_iterator(data_); }
  const_iterator end() const { return begin() + static_cast<difference_type>(size_); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reverse_iterator rbegin() { return reverse_iterator(end()); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }
  reference operator[](size_type at) { return begin()[static_cast<difference_type>(at)]; }
  const_reference operator[](size_type at) const { return begin()[static_cast<difference_type>(at)]; }
  reference front() { return *begin(); }
  const_reference front() const { return *begin(); }
  reference back() { return *(end() - 1); }
  const_reference back() const { return *(end() - 1); }
  pointer data() { return begin(); }
  const_pointer data() const { return begin(); }
  // The elements themselves, which only kernels and this library may touch.
  T* raw() { return data_; }
  const T* raw() const { return data_; }

  [[nodiscard]] size_type size() const { return size_; }
  [[nodiscard]] size_type capacity() const { return capacity_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  void reserve(size_type count) {
    if (count > capacity_) grow(count);
  }
  void resize(size_type count, const T& value = T()) {
    const lab::emulator::device_access access;
    if (count > capacity_) grow(count);
    while (size_ < count) new (data_ + size_++) T(value);
    while (size_ > count) data_[--size_].~T();
  }
  void clear() { resize(0); }
  void shrink_to_fit() {}
  void push_back(const T& value) {
    const T kept = value;
    if (size_ == capacity_) grow(capacity_ < 8 ? 16 : 2 * capacity_);
    const lab::emulator::device_access access;
    new (data_ + size_++) T(kept);
  }
  template <class... Arguments>
  void emplace_back(Arguments&&... arguments) {
    push_back(T(std::forward<Arguments>(arguments)...));
  }
  void pop_back() { resize(size_ - 1); }
  iterator insert(const_iterator position, const T& value) { return insert(position, &value, &value + 1); }
  void insert(const_iterator position, size_type count, const T& value) {
    const std::vector<T> values(count, value);
    insert(position, values.begin(), values.end());
  }
  template <std::input_iterator Iterator>
  iterator insert(const_iterator position, Iterator first, Iterator last) {
    const auto at = position - const_iterator(data_);
    std::vector<T> all(data_, data_ + at);
    for (; first != last; ++first) all.push_back(*first);
    all.insert(all.end(), data_ + at, data_ + size_);
    take(all.begin(), all.end());
    return begin() + at;
  }
  iterator erase(const_iterator position) { return erase(position, position + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    const auto at = first - const_iterator(data_), count = last - first;
    const lab::emulator::device_access access;
    for (size_type i = static_cast<size_type>(at + count); i < size_; ++i)
      data_[i - static_cast<size_type>(count)] = data_[i];
    resize(size_ - static_cast<size_type>(count));
    return begin() + at;
  }
  void assign(size_type count, const T& value) {
    clear();
    resize(count, value);
  }
  template <std::input_iterator Iterator>
  void assign(Iterator first, Iterator last) {
    take(first, last);
  }
  void swap(basic_vector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  template <class U, vector_memory Other>
  bool operator==(const basic_vector<U, Other>& other) const {
    const lab::emulator::device_access access;
    bool same = size_ == other.size();
    for (size_type i = 0; same && i < size_; ++i) same = data_[i] == other.raw()[i];
    return same;
  }
  bool operator==(const std::vector<T>& other) const {
    const lab::emulator::device_access access;
    return size_ == other.size() && std::equal(other.begin(), other.end(), data_);
  }

 private:
  static T* allocate(size_type count) {
    if (count > static_cast<size_type>(-1) / 2 / sizeof(T)) throw std::bad_alloc();
    if constexpr (is_host) {
      return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(alignof(T))));
    } else if constexpr (Memory == vector_memory::universal) {
      void* memory = nullptr;
      if (cudaMallocManaged(&memory, count * sizeof(T)) != cudaSuccess) throw std::bad_alloc();
      return static_cast<T*>(memory);
    } else {
      return device_malloc<T>(count).get();
    }
  }
  static void free(T* memory) {
    if (memory == nullptr) return;
    if constexpr (is_host) {
      ::operator delete(memory, std::align_val_t(alignof(T)));
    } else {
      cudaFree(memory);
    }
  }
  void grow(size_type count) {
    T* const larger = allocate(count);
    const lab::emulator::device_access access;
    for (size_type i = 0; i < size_; ++i) {
      new (larger + i) T(std::move(data_[i]));
      data_[i].~T();
    }
    free(data_);
    data_ = larger;
    capacity_ = count;
  }
  void release() {
    if (data_ == nullptr) return;
    clear();
    free(data_);
    data_ = nullptr;
    capacity_ = 0;
  }
  template <class Iterator>
  void take(Iterator first, Iterator last) {
    if constexpr (std::forward_iterator<Iterator>) {
      basic_vector fresh;
      fresh.reserve(static_cast<size_type>(std::distance(first, last)));
      const lab::emulator::device_access access;
      for (; first != last; ++first) new (fresh.data_ + fresh.size_++) T(static_cast<T>(*first));
      swap(fresh);
    } else {
      const std::vector<T> values(first, last);
      take(values.begin(), values.end());
    }
  }

  T* data_ = nullptr;
  size_type size_ = 0, capacity_ = 0;
};

template <class T, class Allocator = void>
using host_vector = basic_vector<T, vector_memory::host>;
template <class T, class Allocator = void>
using device_vector = basic_vector<T, vector_memory::device>;
template <class T, class Allocator = void>
using universal_vector = basic_vector<T, vector_memory::universal>;
template <class T>
using device_allocator = std::allocator<T>;

}  // namespace thrust
