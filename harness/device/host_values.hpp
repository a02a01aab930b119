// Values of a type that is known when the program runs, in the host's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/device/element_type.hpp"

namespace lab {

struct host_values {
  element_type type = element_type::float64;
  std::vector<std::byte> bytes;

  host_values() = default;
  host_values(element_type its_type, std::int64_t size)
      : type(its_type), bytes(static_cast<std::size_t>(size) * size_of(its_type)) {}

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(bytes.size() / size_of(type)); }
  [[nodiscard]] std::byte* at(std::int64_t index) {
    return bytes.data() + static_cast<std::size_t>(index) * size_of(type);
  }
  [[nodiscard]] const std::byte* at(std::int64_t index) const {
    return bytes.data() + static_cast<std::size_t>(index) * size_of(type);
  }
  // T is its type.
  template <class T>
  [[nodiscard]] const T* as() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
  template <class T>
  [[nodiscard]] T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
};

// One for each input of a problem.
using host_arrays = std::vector<host_values>;

}  // namespace lab
