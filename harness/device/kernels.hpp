// The harness's own device work. Every function enqueues on `stream`.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "harness/device/element_type.hpp"
#include "harness/device/inputs.hpp"

namespace lab {

// Elements of an array in device memory: `count` of them, of which the first is element `first` of the whole.
struct device_values {
  element_type type;
  void* data;
  std::int64_t count;
  std::int64_t first = 0;

  template <class T>
  [[nodiscard]] __host__ __device__ T* as() const {
    return static_cast<T*>(data);
  }
};

// Writes the input of this pattern and seed.
void generate(const device_values& values, pattern kind, std::uint64_t seed, cudaStream_t stream);

// Writes n bytes, as words of every magnitude, that nobody can guess but for who knows the seed; others each
// time.
void fill_random(unsigned char* bytes, std::int64_t n, std::uint64_t seed, cudaStream_t stream);

// at[0] = the smallest i < count whose bits are still the poison, or count: every bit set, which is a NaN
// that no arithmetic produces (its payload is full and its sign negative) in every floating-point type.
void find_poison(const device_values& values, std::int64_t* at, cudaStream_t stream);

// at[0] = the smallest i < count where the input of this pattern and seed is not there, bit for bit, or
// count.
void find_changed_input(const device_values& values, pattern kind, std::uint64_t seed, std::int64_t* at,
                        cudaStream_t stream);

// at[0] = the smallest i < n with bytes[i] != value, or n.
void find_other_byte(const unsigned char* bytes, std::int64_t n, unsigned char value, std::int64_t* at,
                     cudaStream_t stream);

// to[k] = element indices[k] of the whole array, for k < n.
void gather(const device_values& from, const std::int64_t* indices, void* to, std::int64_t n,
            cudaStream_t stream);

// digest[0] = a hash of all bits and their positions: equal runs have equal digests, and those of the parts
// of an array add up to the whole's.
void hash_bits(const device_values& values, std::uint64_t* digest, cudaStream_t stream);

// What an exact result is known by: value * unit as a whole number, where it is one to within 2^-10 (a mean
// of `unit` whole numbers is such a result, rounded or multiplied by a reciprocal); its own bits otherwise,
// and with unit 0 (the bits of a NaN aside, and the sign of zero).
__host__ __device__ inline std::uint64_t exact_key(double value, double unit) {
  constexpr std::uint64_t of_nan = 0x7ff8000000000000u;
  if (value != value) return of_nan;
  const double scaled = value * unit;
  if (unit != 0 && scaled > -0x1p53 && scaled < 0x1p53) {
    const double whole = rint(scaled);
    const double rest = scaled - whole;
    if (rest > -0x1p-10 && rest < 0x1p-10)
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(whole)) ^ 0x8000000000000000u;
  }
  if (value == 0) return 0;
  std::uint64_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Of an integer, its own bits: those above 2^53 have no double of their own.
template <class T>
__host__ __device__ inline std::uint64_t exact_key_of(T value, double unit) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(value);
  } else {
    return exact_key(static_cast<double>(value), unit);
  }
}

// digests[k] = a hash of the exact keys of values k * segment up to (k + 1) * segment, and of their indices:
// the sum over i of random_bits(exact_key(values[i], unit), first + i).
void hash_exact(const device_values& values, double unit, std::int64_t segment, std::uint64_t* digests,
                cudaStream_t stream);

// Reads `bytes` (a multiple of 16) and writes nothing: what was in the L2 cache before is evicted, and no
// dirty line is left behind to be written back during the next kernel.
void flush_cache(const void* data, std::size_t bytes, cudaStream_t stream);

// The plain kernels that a speed of light is measured with: each thread has this many 16-byte words under
// way.
inline constexpr int plain_kernel_words[] = {1, 2, 4, 8};

// Reads `bytes` (a multiple of 16) and keeps nothing.
void read_all(const void* data, std::size_t bytes, int words, cudaStream_t stream);

// At least so many operations in float32, two for each multiplication with an addition; returns how many.
double multiply_add_all(double operations, cudaStream_t stream);

// The same of bfloat16 on the matrix units (tensor cores), with float32 sums.
double multiply_matrices_all(double operations, cudaStream_t stream);

// Writes `bytes` (a multiple of 16).
void write_all(void* to, std::size_t bytes, int words, cudaStream_t stream);

// Copies `bytes` (a multiple of 16).
void copy_all(void* to, const void* from, std::size_t bytes, int words, cudaStream_t stream);

// Reads `read` bytes and writes `written` (multiples of 16), made of what was read, both from the beginning
// on.
void copy_uneven(void* to, std::size_t written, const void* from, std::size_t read, int words,
                 cudaStream_t stream);

// Does nothing: its time is the floor of every other.
void empty(cudaStream_t stream);

// Spins for about 20 us: result[0] = SM cycles, result[1] = nanoseconds that passed meanwhile.
void probe_clock(std::uint64_t* result, cudaStream_t stream);

}  // namespace lab
