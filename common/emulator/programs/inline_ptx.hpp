// What harness/front/emulate/inline_ptx.cpp turns inline PTX into. A register is an unsigned integer, a
// float, a double or a bool; each instruction reads it as the type that it names.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "common/emulator/core/bulk_copy_functions.hpp"
#include "common/emulator/core/cluster_functions.hpp"
#include "common/emulator/core/dependent_launch_functions.hpp"
#include "common/emulator/core/dialect.hpp"
#include "common/emulator/core/register_functions.hpp"
#include "common/emulator/core/tensor_copy_functions.hpp"
#include "common/emulator/core/warpgroup_functions.hpp"
#include "common/emulator/core/wmma.hpp"

namespace lab::emulator::ptx {

// A register, or a number of the PTX, as an instruction's type: its lowest bits where that is smaller.
template <class To, class From>
To as(From value) {
  if constexpr (std::is_same_v<To, bool> || std::is_same_v<From, bool>) {
    return static_cast<To>(value != From{});
  } else if constexpr (std::is_floating_point_v<To> != std::is_floating_point_v<From>) {
    // Bits, but for a whole number that the PTX has where it means a float.
    if constexpr (sizeof(To) == sizeof(From) && std::is_unsigned_v<From>) return std::bit_cast<To>(value);
    if constexpr (sizeof(To) == sizeof(From) && std::is_integral_v<To>) return std::bit_cast<To>(value);
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}
template <class Register, class Value>
void put(Register& to, Value value) {
  to = as<Register>(value);
}

// std::is_pointer does not know T* __restrict__.
template <class T>
inline constexpr bool is_pointer = std::is_pointer_v<std::decay_t<T>> ||
                                   (!std::is_class_v<T> &&
                                    std::is_convertible_v<const T&, const volatile void*>);

// C++'s operands into registers, and back.
template <class Register, class Value>
Register enter(const Value& value) {
  if constexpr (is_pointer<Value>) {
    return static_cast<Register>(reinterpret_cast<std::uintptr_t>(value));
  } else if constexpr (std::is_class_v<Value>) {
    Register bits{};
    std::memcpy(&bits, &value, sizeof(Value) < sizeof(Register) ? sizeof(Value) : sizeof(Register));
    return bits;
  } else {
    return static_cast<Register>(value);
  }
}
template <class Value, class Register>
void leave(Value& value, Register bits) {
  if constexpr (is_pointer<Value>) {
    value = reinterpret_cast<Value>(static_cast<std::uintptr_t>(bits));
  } else if constexpr (std::is_class_v<Value>) {
    std::memcpy(static_cast<void*>(&value), &bits,
                sizeof(Value) < sizeof(Register) ? sizeof(Value) : sizeof(Register));
  } else {
    value = static_cast<Value>(bits);
  }
}

// ---- arithmetic; of integers modulo a power of two

template <class T>
using doubled = std::conditional_t<
    sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>,
                       std::conditional_t<std::is_signed_v<T>, int, unsigned>>>;

template <class T>
T add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a + b;
  if constexpr (!std::is_floating_point_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
template <class T>
T subtract(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a - b;
  if constexpr (!std::is_floating_point_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
template <class T>
T multiply(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a * b;
  if constexpr (!std::is_floating_point_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
template <class T>
doubled<T> multiply_wide(T a, T b) {
  return static_cast<doubled<T>>(a) * static_cast<doubled<T>>(b);
}
template <class T>
T multiply_high(T a, T b) {
  return static_cast<T>(multiply_wide(a, b) >> (8 * sizeof(T)));
}
template <class T>
T divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a / b;
  if constexpr (!std::is_floating_point_v<T>) return b == 0 ? static_cast<T>(-1) : static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  return b == 0 ? a : static_cast<T>(a % b);
}
// What .ftz does.
template <class T>
T flushed(T a) {
  if constexpr (std::is_same_v<T, float>)
    return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a;
  return a;
}
template <class T>
T saturated(T a) {
  return a > T{0} ? (a < T{1} ? a : T{1}) : T{0};
}

template <class To, class From>
To clamped(From a) {
  using limits = std::numeric_limits<To>;
  return std::cmp_less(a, limits::min())      ? limits::min()
         : std::cmp_greater(a, limits::max()) ? limits::max()
                                              : static_cast<To>(a);
}

// The condition code that .cc writes and addc reads; it lasts from one statement to the next. Functions of
// the library, so that nobody takes it for memory of the kernel's.
bool carry();
void set_carry(bool value);

template <class T>
T add_with_carry(T a, T b, bool reads, bool writes) {
  using bits = std::make_unsigned_t<T>;
  const auto sum = static_cast<unsigned __int128>(static_cast<bits>(a)) + static_cast<bits>(b) +
                   static_cast<unsigned>(reads && carry());
  if (writes) set_carry((sum >> (8 * sizeof(T))) != 0);
  return static_cast<T>(sum);
}
template <class T>
T subtract_with_borrow(T a, T b, bool reads, bool writes) {
  using bits = std::make_unsigned_t<T>;
  const auto difference = static_cast<unsigned __int128>(static_cast<bits>(a)) - static_cast<bits>(b) -
                          static_cast<unsigned>(reads && carry());
  if (writes) set_carry((difference >> (8 * sizeof(T))) != 0);
  return static_cast<T>(difference);
}

// ---- bits

template <class T>
T shift_left(T a, unsigned count) {
  return count >= 8 * sizeof(T) ? T{} : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << count);
}
template <class T>
T shift_right(T a, unsigned count) {
  if (count >= 8 * sizeof(T)) return std::is_signed_v<T> && a < T{} ? static_cast<T>(-1) : T{};
  return static_cast<T>(a >> count);
}
template <class T>
int leading_zeros(T a) {
  return std::countl_zero(static_cast<std::make_unsigned_t<T>>(a));
}
template <class T>
int ones(T a) {
  return std::popcount(static_cast<std::make_unsigned_t<T>>(a));
}
template <class T>
T reversed(T a) {
  using bits = std::make_unsigned_t<T>;
  bits result = 0;
  for (std::size_t bit = 0; bit < 8 * sizeof(T); ++bit)
    result = static_cast<bits>(result << 1 | (static_cast<bits>(a) >> bit & 1u));
  return static_cast<T>(result);
}
// The highest bit that is 1, or of a negative number 0; -1 where there is none.
template <class T>
unsigned highest_bit(T a) {
  if (std::is_signed_v<T> && a < T{}) a = static_cast<T>(~a);
  return static_cast<unsigned>(static_cast<int>(8 * sizeof(T)) - 1 - leading_zeros(a));
}
template <class T>
T extract(T a, unsigned first, unsigned count) {
  constexpr unsigned bits = 8 * sizeof(T);
  first &= 0xffu;
  count &= 0xffu;
  const auto bit = [a](unsigned at) { return static_cast<std::uint64_t>(a) >> at & 1u; };
  const std::uint64_t sign =
      std::is_signed_v<T> && count != 0 ? bit(first + count - 1 < bits ? first + count - 1 : bits - 1) : 0;
  std::uint64_t result = 0;
  for (unsigned at = 0; at < bits; ++at)
    result |= (at < count && first + at < bits ? bit(first + at) : sign) << at;
  return static_cast<T>(result);
}
template <class T>
T inserted(T field, T into, unsigned first, unsigned count) {
  first &= 0xffu;
  count &= 0xffu;
  if (first >= 8 * sizeof(T) || count == 0) return into;
  const std::uint64_t ones_of_count = count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  const std::uint64_t mask = ones_of_count << first;
  return static_cast<T>((static_cast<std::uint64_t>(into) & ~mask) |
                        (static_cast<std::uint64_t>(field) << first & mask));
}
// Any function of three bits: `table` holds its value for the bits of 0xf0, 0xcc and 0xaa.
inline std::uint32_t any_of_three(std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned table) {
  std::uint32_t result = 0;
  for (unsigned row = 0; row < 8; ++row) {
    if ((table >> row & 1u) != 0)
      result |= ((row & 4u) != 0 ? a : ~a) & ((row & 2u) != 0 ? b : ~b) & ((row & 1u) != 0 ? c : ~c);
  }
  return result;
}
inline std::uint32_t differences_of_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    const std::uint32_t x = a >> shift & 0xffu, y = b >> shift & 0xffu;
    c += x > y ? x - y : y - x;
  }
  return c;
}
// ---- numbers of 16 bits, one or two in a register

template <class Half, class Bits, class Operation, class... More>
Bits each_half(Operation operation, Bits first, More... more) {
  Bits result = 0;
  for (unsigned at = 0; at < 8 * sizeof(Bits); at += 16) {
    const auto part = [at](auto bits) {
      return static_cast<float>(Half::of_bits(static_cast<std::uint16_t>(bits >> at)));
    };
    result = static_cast<Bits>(result | Bits{Half(operation(part(first), part(more)...)).bits} << at);
  }
  return result;
}
template <class Half>
unsigned two_halves(float high, float low) {
  return unsigned{Half(high).bits} << 16 | Half(low).bits;
}

// ---- matrices; `where` is the statement's line

template <class Sum, std::size_t sums, std::size_t a_registers, std::size_t b_registers>
void multiply(matrix_type type, bool half_sums, Sum (&d)[sums], const unsigned (&a)[a_registers],
              const unsigned (&b)[b_registers], place where = place::here()) {
  multiply_matrices(type, {d, a, b, d, static_cast<int>(a_registers), half_sums}, "mma.sync", where);
}
template <bool transposed, std::size_t count>
void load_rows(unsigned (&registers)[count], const void* row, place where = place::here()) {
  load_matrix<static_cast<int>(count), transposed>(registers, row, "ldmatrix", where);
}
template <bool transposed, std::size_t count>
void store_rows(void* row, const unsigned (&registers)[count], place where = place::here()) {
  store_matrix<static_cast<int>(count), transposed>(row, registers, "stmatrix", where);
}

// wmma: the registers of a fragment. Of half there are more than a lane's elements need; the emulator's lanes
// leave the others alone.
template <class Fragment, class Register, std::size_t count>
void load_fragment(Register (&registers)[count], const void* memory, unsigned stride, bool is_across,
                   place where = place::here()) {
  Fragment fragment;
  static_assert(sizeof fragment.x <= sizeof registers);
  emulator::load_fragment(fragment, static_cast<const typename Fragment::element_type*>(memory), stride,
                          is_across, where);
  std::memcpy(registers, fragment.x, sizeof fragment.x);
}
template <class Fragment, class Register, std::size_t count>
void store_fragment(void* memory, const Register (&registers)[count], unsigned stride, bool is_across,
                    place where = place::here()) {
  Fragment fragment;
  static_assert(sizeof fragment.x <= sizeof registers);
  std::memcpy(fragment.x, registers, sizeof fragment.x);
  store_matrix_sync(static_cast<typename Fragment::element_type*>(memory), fragment, stride,
                    is_across ? nvcuda::wmma::mem_col_major : nvcuda::wmma::mem_row_major, where);
}

// wgmma: the 64 bits of a tile's descriptor.
matrix_descriptor descriptor_of(std::uint64_t bits, place where);
template <std::size_t count, class A>
void begin_product(matrix_type type, float* const (&d)[count], const A& a, std::uint64_t b, bool accumulates,
                   int sign_a, int sign_b, int a_is_mn_major, int b_is_mn_major,
                   place where = place::here()) {
  warpgroup_shape shape{2 * static_cast<int>(count),
                        type,
                        std::is_array_v<A>,
                        {},
                        descriptor_of(b, where),
                        a_is_mn_major != 0 ? major::mn : major::k,
                        b_is_mn_major != 0 ? major::mn : major::k,
                        sign_a,
                        sign_b,
                        accumulates};
  if constexpr (std::is_array_v<A>) {
    emulator::begin_product(shape, a, d, where);
  } else {
    shape.a = descriptor_of(a, where);
    emulator::begin_product(shape, nullptr, d, where);
  }
}

// mapa.shared::cluster
inline std::uint64_t shared_of_block(std::uint32_t own, unsigned rank, place where) {
  return shared_number(map_to_block(shared_address(own, where), rank, where));
}

// mbarrier.arrive: `count` times, with so many bytes more to come; the phase's parity, which a wait takes.
[[gnu::always_inline]] inline std::uint64_t arrive(std::uint64_t* barrier, int count, int bytes,
                                                   place where) {
  const std::uint64_t phase = arrive_in_phase(barrier, true, bytes, where);
  for (int k = 1; k < count; ++k) arrive_in_phase(barrier, true, 0, where);
  return phase;
}
// The box at these coordinates of the tensor map at this address (cuTensorMapEncodeTiled in cuda.h).
inline tensor_box box_of(std::uint64_t map,
                         const std::array<std::int64_t, tensor_layout::most_dimensions>& at) {
  tensor_box box{{}, at};
  std::memcpy(&box.layout, reinterpret_cast<const void*>(map), sizeof box.layout);
  return box;
}

// The width that a shuffle's last operand but one means.
inline int width_of(unsigned clamp_and_mask) {
  return static_cast<int>(32u - (clamp_and_mask >> 8 & 31u));
}

}  // namespace lab::emulator::ptx

__forceinline__ void __barrier_sync(unsigned name,
                                    lab::emulator::place where = lab::emulator::place::here()) {
  lab::emulator::wait_at_named_barrier(static_cast<int>(name), {}, false, where);
}
__forceinline__ void __barrier_sync_count(unsigned name, unsigned threads,
                                          lab::emulator::place where = lab::emulator::place::here()) {
  lab::emulator::wait_at_named_barrier(static_cast<int>(name), static_cast<int>(threads), false, where);
}
