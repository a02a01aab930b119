// CUDA's vector types: float4, int2, uchar4 and so on, with make_float4() and so on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/emulator/core/dialect.hpp"

namespace lab::emulator {

// One object of the size of a vector type, which may alias it. A vector even where an integer would do: clang
// splits copies of integers into copies of the elements.
template <std::size_t bytes>
struct whole {
  typedef std::uint8_t type __attribute__((vector_size(bytes < 16 ? bytes : 16), may_alias));
};

// Fails the launch whose kernel accesses a vector of `bytes` at an address that is no multiple of it; returns
// where no kernel runs. In scheduler.cpp. Observed kernels are checked at each access.
void refuse_misaligned(const void* address, std::size_t bytes);

// A GPU loads and stores a float4 in one access. A defaulted copy would be split by the compiler into four,
// and an instrumented build would count four; copying the whole stays one access. The price: these types are
// not trivially copyable for C++, though copying their bytes is as good as ever.
template <class Vector>
__forceinline__ void copy_whole(Vector* to, const Vector* from) {
  using type = typename whole<sizeof(Vector)>::type;
#if !defined(LAB_EMULATOR_OBSERVED)
  for (const void* const address : {static_cast<const void*>(to), static_cast<const void*>(from)}) {
    if (reinterpret_cast<std::uintptr_t>(address) % alignof(Vector) != 0) [[unlikely]]
      refuse_misaligned(address, sizeof(Vector));
  }
#endif
  // 32 bytes are two accesses of 16.
  for (std::size_t part = 0; part < sizeof(Vector) / sizeof(type); ++part)
    reinterpret_cast<type*>(to)[part] = reinterpret_cast<const type*>(from)[part];
}

}  // namespace lab::emulator

// In the global namespace, like CUDA's own: argument-dependent lookup must find operators that users declare
// there.
template <class Element>
struct alignas(2 * sizeof(Element)) emulated_vector2 {
  Element x, y;
  emulated_vector2() = default;
  constexpr emulated_vector2(Element x_value, Element y_value) : x(x_value), y(y_value) {}
  __forceinline__ emulated_vector2(const emulated_vector2& other) { lab::emulator::copy_whole(this, &other); }
  __forceinline__ emulated_vector2& operator=(const emulated_vector2& other) {
    lab::emulator::copy_whole(this, &other);
    return *this;
  }
};

// Three elements have no wide access on a GPU either.
template <class Element>
struct emulated_vector3 {
  Element x, y, z;
};

template <class Element>
struct alignas(4 * sizeof(Element) < 16 ? 4 * sizeof(Element) : 16) emulated_vector4 {
  Element x, y, z, w;
  emulated_vector4() = default;
  constexpr emulated_vector4(Element x_value, Element y_value, Element z_value = {})
      : x(x_value), y(y_value), z(z_value), w() {}
  constexpr emulated_vector4(Element x_value, Element y_value, Element z_value, Element w_value)
      : x(x_value), y(y_value), z(z_value), w(w_value) {}
  __forceinline__ emulated_vector4(const emulated_vector4& other) { lab::emulator::copy_whole(this, &other); }
  __forceinline__ emulated_vector4& operator=(const emulated_vector4& other) {
    lab::emulator::copy_whole(this, &other);
    return *this;
  }
};

#define LAB_EMULATOR_VECTOR2(prefix, element)                                  \
  using prefix##2 = emulated_vector2<element>;                                 \
  __forceinline__ constexpr prefix##2 make_##prefix##2(element x, element y) { \
    return {x, y};                                                             \
  }
#define LAB_EMULATOR_VECTOR4(prefix, element)                                                        \
  using prefix##4 = emulated_vector4<element>;                                                       \
  __forceinline__ constexpr prefix##4 make_##prefix##4(element x, element y, element z, element w) { \
    return {x, y, z, w};                                                                             \
  }
#define LAB_EMULATOR_MAKE3(prefix, element)                                               \
  __forceinline__ constexpr prefix##3 make_##prefix##3(element x, element y, element z) { \
    return {x, y, z};                                                                     \
  }
#define LAB_EMULATOR_VECTORS(prefix, element)  \
  LAB_EMULATOR_VECTOR2(prefix, element)        \
  using prefix##3 = emulated_vector3<element>; \
  LAB_EMULATOR_MAKE3(prefix, element)          \
  LAB_EMULATOR_VECTOR4(prefix, element)

#define LAB_EMULATOR_VECTOR1(prefix, element)                       \
  struct prefix##1 {                                                \
    element x;                                                      \
  };                                                                \
  __forceinline__ constexpr prefix##1 make_##prefix##1(element x) { \
    return {x};                                                     \
  }

LAB_EMULATOR_VECTORS(char, signed char)
LAB_EMULATOR_VECTORS(uchar, unsigned char)
LAB_EMULATOR_VECTORS(short, short)
LAB_EMULATOR_VECTORS(ushort, unsigned short)
LAB_EMULATOR_VECTORS(int, int)
LAB_EMULATOR_VECTORS(long, long)
LAB_EMULATOR_VECTORS(ulong, unsigned long)
LAB_EMULATOR_VECTORS(longlong, long long)
LAB_EMULATOR_VECTORS(ulonglong, unsigned long long)
LAB_EMULATOR_VECTORS(float, float)
LAB_EMULATOR_VECTORS(double, double)
LAB_EMULATOR_VECTOR2(uint, unsigned)
LAB_EMULATOR_MAKE3(uint, unsigned)  // uint3 itself is the type of threadIdx
LAB_EMULATOR_VECTOR4(uint, unsigned)
LAB_EMULATOR_VECTOR1(char, signed char)
LAB_EMULATOR_VECTOR1(uchar, unsigned char)
LAB_EMULATOR_VECTOR1(short, short)
LAB_EMULATOR_VECTOR1(ushort, unsigned short)
LAB_EMULATOR_VECTOR1(int, int)
LAB_EMULATOR_VECTOR1(uint, unsigned)
LAB_EMULATOR_VECTOR1(long, long)
LAB_EMULATOR_VECTOR1(ulong, unsigned long)
LAB_EMULATOR_VECTOR1(longlong, long long)
LAB_EMULATOR_VECTOR1(ulonglong, unsigned long long)
LAB_EMULATOR_VECTOR1(float, float)
LAB_EMULATOR_VECTOR1(double, double)

// CUDA 13's names, which say the alignment.
using double4_16a = double4;
using long4_16a = long4;
using ulong4_16a = ulong4;
using longlong4_16a = longlong4;
using ulonglong4_16a = ulonglong4;

#undef LAB_EMULATOR_VECTOR1
#undef LAB_EMULATOR_VECTORS
#undef LAB_EMULATOR_VECTOR4
#undef LAB_EMULATOR_MAKE3
#undef LAB_EMULATOR_VECTOR2
