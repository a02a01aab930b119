// What common/warpgroup_matrix.hpp is on the emulator; warpgroup_products.hpp says when products are made.
#pragma once

#include <cstddef>
#include <type_traits>

#include "common/emulator/core/matrix_functions.hpp"
#include "common/emulator/core/narrow_float.hpp"
#include "common/emulator/core/tensor_layout.hpp"

namespace lab {

// A tile of A or B in shared memory.
struct matrix_descriptor {
  const unsigned char* start;
  swizzle pattern;
  int leading_bytes, stride_bytes;

  [[nodiscard]] matrix_descriptor advanced(int bytes) const {
    return {start + bytes, pattern, leading_bytes, stride_bytes};
  }
  bool operator==(const matrix_descriptor&) const = default;
};

__forceinline__ matrix_descriptor make_matrix_descriptor(const void* tile, swizzle pattern, int leading_bytes,
                                                         int stride_bytes) {
  return {static_cast<const unsigned char*>(tile), pattern, leading_bytes, stride_bytes};
}

namespace emulator {

// One wgmma.mma_async, as all threads of a warpgroup give it.
struct warpgroup_shape {
  int n;
  matrix_type type;
  bool a_in_registers;
  matrix_descriptor a, b;
  major a_major, b_major;
  int sign_a, sign_b;
  bool accumulates;
  bool operator==(const warpgroup_shape&) const = default;
};
// `a`: the registers, if A is there; `d`: where the n / 2 sums are.
void begin_product(const warpgroup_shape& shape, const unsigned* a, float* const* d, place where);
void fence_products(place where);
void commit_products(place where);
void wait_for_products(std::size_t pending, place where);

template <class T, int count>
constexpr matrix_type type_of_factors() {
  static_assert(count == 32 || count == 64 || count == 128, "n / 2 sums, where n is 64, 128 or 256");
  static_assert(std::is_same_v<T, __nv_bfloat16> || std::is_same_v<T, __half>, "factors of bfloat16 or half");
  return std::is_same_v<T, __half> ? matrix_type::f16 : matrix_type::bf16;
}

template <int count>
struct places_of_sums {
  float* of[count];
  explicit places_of_sums(float (&d)[count]) {
    for (int k = 0; k < count; ++k) of[k] = d + k;
  }
};

}  // namespace emulator

template <class T, major a_major = major::k, major b_major = major::k, int sign_a = 1, int sign_b = 1,
          int count>
__forceinline__ void wgmma_m64k16(float (&d)[count], matrix_descriptor a, matrix_descriptor b,
                                  bool accumulate, emulator::place where = emulator::place::here()) {
  emulator::begin_product({2 * count, emulator::type_of_factors<T, count>(), false, a, b, a_major, b_major,
                           sign_a, sign_b, accumulate},
                          nullptr, emulator::places_of_sums(d).of, where);
}

template <class T, major b_major = major::k, int sign_a = 1, int sign_b = 1, int count>
__forceinline__ void wgmma_m64k16(float (&d)[count], const unsigned (&a)[4], matrix_descriptor b,
                                  bool accumulate, emulator::place where = emulator::place::here()) {
  emulator::begin_product({2 * count,
                           emulator::type_of_factors<T, count>(),
                           true,
                           {},
                           b,
                           major::k,
                           b_major,
                           sign_a,
                           sign_b,
                           accumulate},
                          a, emulator::places_of_sums(d).of, where);
}

__forceinline__ void wgmma_commit(emulator::place where = emulator::place::here()) {
  emulator::commit_products(where);
}

// The sums are named for the compiler of the other build.
__forceinline__ void wgmma_fence(emulator::place where = emulator::place::here()) {
  emulator::fence_products(where);
}
template <int count>
__forceinline__ void wgmma_fence(float (&)[count], emulator::place where = emulator::place::here()) {
  emulator::fence_products(where);
}
template <int count, int other_count>
__forceinline__ void wgmma_fence(float (&)[count], float (&)[other_count],
                                 emulator::place where = emulator::place::here()) {
  emulator::fence_products(where);
}

template <int pending>
__forceinline__ void wgmma_wait(emulator::place where = emulator::place::here()) {
  emulator::wait_for_products(pending, where);
}
template <int pending, int count>
__forceinline__ void wgmma_wait(float (&)[count], emulator::place where = emulator::place::here()) {
  emulator::wait_for_products(pending, where);
}
template <int pending, int count, int other_count>
__forceinline__ void wgmma_wait(float (&)[count], float (&)[other_count],
                                emulator::place where = emulator::place::here()) {
  emulator::wait_for_products(pending, where);
}

}  // namespace lab
