// The types that elements of arrays have, known when the program runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/bfloat16.hpp"

namespace lab {

// A new one is a name here, a line in each of the two functions below and an instance of the kernels
// (kernels.cu); one that is no type of the language's own also needs is_real() and values (inputs.hpp).
enum class element_type : std::uint8_t { float32, float64, int32, int64, uint8, uint32, bfloat16 };

template <class T>
inline constexpr bool is_real_v = std::is_floating_point_v<T> || std::is_same_v<T, bfloat16>;

// The name of T.
template <class T>
constexpr element_type element_of() {
  if constexpr (std::is_same_v<T, float>) return element_type::float32;
  if constexpr (std::is_same_v<T, double>) return element_type::float64;
  if constexpr (std::is_same_v<T, std::int32_t>) return element_type::int32;
  if constexpr (std::is_same_v<T, std::int64_t>) return element_type::int64;
  if constexpr (std::is_same_v<T, unsigned char>) return element_type::uint8;
  if constexpr (std::is_same_v<T, std::uint32_t>) return element_type::uint32;
  if constexpr (std::is_same_v<T, bfloat16>) return element_type::bfloat16;
}

// visit(T{}) of the type with this name.
template <class Visit>
auto with_element(element_type type, const Visit& visit) {
  switch (type) {
    case element_type::float32:
      return visit(float{});
    case element_type::float64:
      return visit(double{});
    case element_type::int32:
      return visit(std::int32_t{});
    case element_type::int64:
      return visit(std::int64_t{});
    case element_type::uint8:
      return visit(static_cast<unsigned char>(0));
    case element_type::uint32:
      return visit(std::uint32_t{});
    case element_type::bfloat16:
      break;
  }
  return visit(bfloat16{});
}

inline std::size_t size_of(element_type type) {
  return with_element(type, [](auto zero) { return sizeof zero; });
}

inline bool is_real(element_type type) {
  return with_element(type, [](auto zero) { return is_real_v<decltype(zero)>; });
}

}  // namespace lab
