// What the rewriter turns conversions and shifts of device code into (harness/front/emulate/rewrite.hpp): a
// GPU has a value where C++ has none. A number that the integer type does not hold becomes the nearest one
// that it does, and a NaN 0 (of 64 bits: the smallest). A shift by the width or more shifts everything out.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "common/emulator/core/device_functions.hpp"

namespace lab::emulator {

template <class T>
concept arithmetic = std::is_arithmetic_v<T>;
template <class T>
concept shifted_type = std::is_integral_v<T> ||(std::is_enum_v<T>&& std::is_convertible_v<T, int>);

// ---- conversions

// Types of less than 32 bits take the lowest ones of the 32.
template <class To, class From>
[[gnu::always_inline]] constexpr To to_integer(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    using word = std::conditional_t<std::is_signed_v<To>, int, unsigned>;
    using whole = std::conditional_t<(sizeof(To) < sizeof(word)), word, To>;
    if (std::is_constant_evaluated()) return static_cast<To>(value);
    constexpr From beyond = static_cast<From>(std::uint64_t{1} << (8 * sizeof(whole) - 2)) *
                            (std::is_signed_v<whole> ? From{2} : From{4});
    constexpr From least = std::is_signed_v<whole> ? -beyond : From{0};
    if (value >= least && value < beyond) return static_cast<To>(static_cast<whole>(value));
    return static_cast<To>(to_whole<whole, rounding::to_zero>(value));
  } else {
    return static_cast<To>(value);
  }
}

// A number of 16 bits, or an object of the program's own, which becomes a float on its way to an integer.
template <class To, class From>
inline constexpr bool is_object_of_float = false;
template <class To, class From>
requires(
    std::is_integral_v<To> && !std::is_same_v<To, bool> &&
    requires(From && value) { value.operator float(); } &&
    !requires(From && value) {
      value.operator To();
    }) inline constexpr bool is_object_of_float<To, From> = true;
// One of 16 bits saturates at every width.
template <class To, class From>
[[gnu::always_inline]] constexpr To number_of_float(float value) {
  if constexpr (requires { typename std::remove_cvref_t<From>::number_of_16_bits; }) {
    return to_whole<To, rounding::to_zero>(value);
  } else {
    return to_integer<To>(value);
  }
}

// (int)x, int(x), static_cast<int>(x), int y = x;
template <class To, arithmetic From>
[[gnu::always_inline]] constexpr To converted(From value) {
  return to_integer<To>(value);
}
template <class To, class From>
requires(!arithmetic<std::remove_cvref_t<From>>) [[gnu::always_inline]] constexpr To converted(From&& value) {
  if constexpr (is_object_of_float<To, From>) {
    return number_of_float<To, From>(value.operator float());
  } else if constexpr (requires {
                         typename std::remove_cvref_t<From>::number_of_16_bits;
                         typename To::number_of_16_bits;
                       } &&
                       !std::is_same_v<std::remove_cvref_t<From>, To>) {
    return To(static_cast<float>(value));  // of half and bfloat16 one to the other
  } else {
    return (To)std::forward<From>(value);
  }
}

// y = x; of whatever types: what is no conversion to an integer stays as it is.
template <class To, arithmetic From>
[[gnu::always_inline]] constexpr auto assigned(From value) {
  using type = std::remove_cvref_t<To>;
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<type>) {
    return to_integer<type>(value);
  } else {
    return value;
  }
}
template <class To, class From>
requires(!arithmetic<std::remove_cvref_t<From>>) [[gnu::always_inline]] constexpr decltype(auto)
    assigned(From&& value) {
  if constexpr (is_object_of_float<std::remove_cvref_t<To>, From>) {
    return converted<std::remove_cvref_t<To>>(std::forward<From>(value));
  } else {
    return std::forward<From>(value);
  }
}

// GCC leaves __restrict__ of a pointer on the value &p[n] of a template, and no reference binds to it.
template <class To, class Object>
requires(!std::is_class_v<std::remove_cvref_t<To>>)
    [[gnu::always_inline]] constexpr Object* assigned(Object* value) {
  return value;
}

// i += x; of an integer i is changed(i) += x;
template <class T>
struct changed_number {
  T& left;

  template <class From>
  [[gnu::always_inline]] constexpr T& operator+=(From&& value) const {
    return left = converted<T>(left + std::forward<From>(value));
  }
  template <class From>
  [[gnu::always_inline]] constexpr T& operator-=(From&& value) const {
    return left = converted<T>(left - std::forward<From>(value));
  }
  template <class From>
  [[gnu::always_inline]] constexpr T& operator*=(From&& value) const {
    return left = converted<T>(left * std::forward<From>(value));
  }
  template <class From>
  [[gnu::always_inline]] constexpr T& operator/=(From&& value) const {
    return left = converted<T>(left / std::forward<From>(value));
  }
};
template <class T>
[[gnu::always_inline]] constexpr changed_number<T> changed(T& left) {
  return {left};
}

// ---- shifts: a << b is a << shift << b

struct shift_mark {};
inline constexpr shift_mark shift{};

template <class T>
struct shifted_number {
  T value;
};
template <class T>
struct shifted_object {
  T&& value;
};
template <class T>
struct shift_amount {
  T value;
};

template <shifted_type T>
[[gnu::always_inline]] constexpr auto operator<<(T value, shift_mark) {
  return shifted_number<decltype(+value)>{+value};
}
template <shifted_type T>
[[gnu::always_inline]] constexpr auto operator>>(T value, shift_mark) {
  return shifted_number<decltype(+value)>{+value};
}
template <class T>
requires(!shifted_type<std::remove_cvref_t<T>>) [[gnu::always_inline]] constexpr auto operator<<(T&& value,
                                                                                                 shift_mark) {
  return shifted_object<T>{std::forward<T>(value)};
}
template <class T>
requires(!shifted_type<std::remove_cvref_t<T>>) [[gnu::always_inline]] constexpr auto operator>>(T&& value,
                                                                                                 shift_mark) {
  return shifted_object<T>{std::forward<T>(value)};
}

// Without branches, which would be basic blocks of an observed kernel.
template <class T>
[[gnu::always_inline]] constexpr T shifted_left(T value, std::uint32_t by) {
  using bits = std::make_unsigned_t<T>;
  constexpr std::uint32_t width = 8 * sizeof(T);
  return static_cast<T>((static_cast<bits>(value) << (by & (width - 1))) &
                        (bits{0} - static_cast<bits>(by < width)));
}
template <class T>
[[gnu::always_inline]] constexpr T shifted_right(T value, std::uint32_t by) {
  constexpr std::uint32_t width = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(value >> ((by | (0u - static_cast<std::uint32_t>(by >= width))) & (width - 1)));
  } else {
    return static_cast<T>((value >> (by & (width - 1))) & (T{0} - static_cast<T>(by < width)));
  }
}

template <class T, shifted_type By>
[[gnu::always_inline]] constexpr T operator<<(shifted_number<T> left, By by) {
  return shifted_left(left.value, static_cast<std::uint32_t>(by));
}
template <class T, shifted_type By>
[[gnu::always_inline]] constexpr T operator>>(shifted_number<T> left, By by) {
  return shifted_right(left.value, static_cast<std::uint32_t>(by));
}
template <class T, class By>
requires(!shifted_type<std::remove_cvref_t<By>>) [[gnu::always_inline]] constexpr decltype(auto) operator<<(
    shifted_number<T> left, By&& by) {
  return left.value << std::forward<By>(by);
}
template <class T, class By>
requires(!shifted_type<std::remove_cvref_t<By>>) [[gnu::always_inline]] constexpr decltype(auto) operator>>(
    shifted_number<T> left, By&& by) {
  return left.value >> std::forward<By>(by);
}
template <class T, class By>
[[gnu::always_inline]] constexpr decltype(auto) operator<<(shifted_object<T> left, By&& by) {
  return std::forward<T>(left.value) << std::forward<By>(by);
}
template <class T, class By>
[[gnu::always_inline]] constexpr decltype(auto) operator>>(shifted_object<T> left, By&& by) {
  return std::forward<T>(left.value) >> std::forward<By>(by);
}

// a <<= b is a <<= shift <<= b
template <class By>
[[gnu::always_inline]] constexpr auto operator<<=(shift_mark, By&& by) {
  return shift_amount<By>{std::forward<By>(by)};
}
template <class By>
[[gnu::always_inline]] constexpr auto operator>>=(shift_mark, By&& by) {
  return shift_amount<By>{std::forward<By>(by)};
}
template <class T, class By>
[[gnu::always_inline]] constexpr T& operator<<=(T& left, shift_amount<By> by) {
  if constexpr (shifted_type<std::remove_cv_t<T>> && shifted_type<std::remove_cvref_t<By>>) {
    left = static_cast<std::remove_cv_t<T>>(shifted_left(+left, static_cast<std::uint32_t>(by.value)));
  } else {
    left <<= std::forward<By>(by.value);
  }
  return left;
}
template <class T, class By>
[[gnu::always_inline]] constexpr T& operator>>=(T& left, shift_amount<By> by) {
  if constexpr (shifted_type<std::remove_cv_t<T>> && shifted_type<std::remove_cvref_t<By>>) {
    left = static_cast<std::remove_cv_t<T>>(shifted_right(+left, static_cast<std::uint32_t>(by.value)));
  } else {
    left >>= std::forward<By>(by.value);
  }
  return left;
}

}  // namespace lab::emulator
