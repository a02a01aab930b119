// nvcuda::wmma: products of matrices of half, bfloat16, tf32 and 8-bit integers by one warp (CUDA C++
// Programming Guide, "Warp Matrix Functions"). Which element a lane holds is said nowhere, and a GPU's lanes
// may hold others.
#pragma once

#include <bit>
#include <cmath>
#include <type_traits>

#include "common/emulator/core/matrix_functions.hpp"
#include "common/emulator/core/narrow_float.hpp"

namespace lab::emulator {

// A lane's part in wmma::mma_sync.
struct wmma_shape {
  int m, n, k;
  bool a_by_rows, b_by_rows;
  matrix_type type;
  bool half_c, half_d;
};
struct wmma_call {
  void* d;
  const void* a;
  const void* b;
  const void* c;
  wmma_shape shape;
};
void multiply_fragments(const wmma_call& call, place where);
// Fails at an address or a stride that is not allowed.
void check_fragment_memory(const void* memory, unsigned stride, unsigned element_bytes, const char* name,
                           place where);

// Of a matrix that is stored as `majors` lines of `minors` elements: a lane holds pairs of neighbours in 8 x
// 8 tiles, as in mma.sync.
struct fragment_position {
  int major, minor;
};
constexpr fragment_position position_in_fragment(int majors, int lane, int element) {
  const int tile = element / 2, tiles = majors / 8;
  return {lane / 4 + 8 * (tile % tiles), lane % 4 * 2 + 8 * (tile / tiles) + element % 2};
}

}  // namespace lab::emulator

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

// What a fragment of T holds.
template <class T>
using stored = std::conditional_t<std::is_same_v<T, precision::tf32>, float, T>;

// The nearest number of 10 bits behind the point; of two, that farther from 0.
inline float __float_to_tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::isfinite(value) ? std::bit_cast<float>((bits + 0x1000u) & ~0x1fffu) : value;
}

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  static constexpr bool is_sum = std::is_same_v<Use, accumulator>;
  static constexpr bool is_tf32 = m == 16 && n == 16 && k == 8;
  template <class... Types>
  static constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);
  static_assert(
      is_tf32 || (m == 16 && n == 16 && k == 16) || (m == 32 && n == 8 && k == 16) ||
          (m == 8 && n == 32 && k == 16),
      "fragments are of 16 x 16 x 16, 32 x 8 x 16 and 8 x 32 x 16, and those of tf32 16 x 16 x 8; those of "
      "double (8 x 8 x 4) are not emulated");
  static_assert(is_tf32  ? is_sum ? is_one_of<float> : is_one_of<precision::tf32>
                 : is_sum ? is_one_of<float, __half, int>
                         : is_one_of<__half, __nv_bfloat16, signed char, unsigned char>,
                "the emulator has factors of half, bfloat16, tf32 (16 x 16 x 8) and 8-bit integers, and sums "
                "of float, half and int");

 public:
  static constexpr int rows = std::is_same_v<Use, matrix_b> ? k : m;
  static constexpr int columns = std::is_same_v<Use, matrix_a> ? k : n;
  static constexpr int num_elements = rows * columns / 32;
  static constexpr int majors = std::is_same_v<Layout, col_major> ? columns : rows;
  using element_type = stored<T>;
  alignas(2 * sizeof(element_type)) element_type x[num_elements];
};

}  // namespace nvcuda::wmma

namespace lab::emulator {

// A lane's elements from memory or to it, pair by pair where two are neighbours there.
template <class Fragment, class Pointer, class Move>
__forceinline__ void move_fragment(Fragment& fragment, Pointer* memory, unsigned stride, bool is_across,
                                   Move move) {
  using T = typename Fragment::element_type;
  struct alignas(2 * sizeof(T)) pair {
    T first, second;
  };
  using Pair = std::conditional_t<std::is_const_v<Pointer>, const pair, pair>;
  const int self = static_cast<int>(lane());
  for (int k = 0; k < Fragment::num_elements; k += 2) {
    const fragment_position at = position_in_fragment(Fragment::majors, self, k);
    if (is_across) {
      move(fragment.x[k], memory[at.major + static_cast<std::size_t>(at.minor) * stride]);
      move(fragment.x[k + 1], memory[at.major + static_cast<std::size_t>(at.minor + 1) * stride]);
    } else {
      Pointer* const first = memory + static_cast<std::size_t>(at.major) * stride + at.minor;
      move(*reinterpret_cast<pair*>(fragment.x + k), *reinterpret_cast<Pair*>(first));
    }
  }
}

template <class Fragment, class T>
__forceinline__ void load_fragment(Fragment& fragment, const T* memory, unsigned stride, bool is_across,
                                   place where) {
  check_fragment_memory(memory, stride, sizeof(T), "wmma::load_matrix_sync", where);
  move_fragment(fragment, memory, stride, is_across, [](auto& mine, const auto& there) { mine = there; });
  meet_as_warp("wmma::load_matrix_sync", where);
}

}  // namespace lab::emulator

namespace nvcuda::wmma {

template <class Use, int m, int n, int k, class T, class Layout>
__forceinline__ void fill_fragment(fragment<Use, m, n, k, T, Layout>& f,
                                   const std::type_identity_t<stored<T>>& value) {
  for (stored<T>& element : f.x) element = value;
}

template <class Use, int m, int n, int k, class T, class Layout>
__forceinline__ void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f,
                                      const std::type_identity_t<stored<T>>* memory, unsigned stride,
                                      lab::emulator::place where = lab::emulator::place::here()) {
  lab::emulator::load_fragment(f, memory, stride, false, where);
}

template <int m, int n, int k, class T>
__forceinline__ void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* memory, unsigned stride,
                                      layout_t layout,
                                      lab::emulator::place where = lab::emulator::place::here()) {
  lab::emulator::load_fragment(f, memory, stride, layout == mem_col_major, where);
}

template <int m, int n, int k, class T>
__forceinline__ void store_matrix_sync(T* memory, const fragment<accumulator, m, n, k, T>& f, unsigned stride,
                                       layout_t layout,
                                       lab::emulator::place where = lab::emulator::place::here()) {
  using namespace lab::emulator;
  check_fragment_memory(memory, stride, sizeof(T), "wmma::store_matrix_sync", where);
  meet_as_warp("wmma::store_matrix_sync", where);
  fragment<accumulator, m, n, k, T> copy = f;
  move_fragment(copy, memory, stride, layout == mem_col_major,
                [](const auto& mine, auto& there) { there = mine; });
}

template <int m, int n, int k, class T, class ALayout, class BLayout, class Sum, class Result>
__forceinline__ void mma_sync(fragment<accumulator, m, n, k, Result>& d,
                              const fragment<matrix_a, m, n, k, T, ALayout>& a,
                              const fragment<matrix_b, m, n, k, T, BLayout>& b,
                              const fragment<accumulator, m, n, k, Sum>& c,
                              lab::emulator::place where = lab::emulator::place::here()) {
  using namespace lab::emulator;
  static_assert(
      (std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>) == std::is_same_v<Sum, int>,
      "sums of integers are int, and others are not");
  constexpr matrix_type type = std::is_same_v<T, __half>            ? matrix_type::f16
                               : std::is_same_v<T, precision::tf32> ? matrix_type::tf32
                               : std::is_same_v<T, signed char>     ? matrix_type::s8
                               : std::is_same_v<T, unsigned char>   ? matrix_type::u8
                                                                    : matrix_type::bf16;
  multiply_fragments({d.x,
                      a.x,
                      b.x,
                      c.x,
                      {m, n, k, std::is_same_v<ALayout, row_major>, std::is_same_v<BLayout, row_major>, type,
                       std::is_same_v<Sum, __half>, std::is_same_v<Result, __half>}},
                     where);
}

}  // namespace nvcuda::wmma
