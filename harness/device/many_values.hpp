// What references need of generated inputs by the million, many at a time: loops that the compiler makes
// vectors of, in the widest that the processor has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "harness/device/inputs.hpp"

namespace lab {

// to[k] = input_value<T>(kind, seed, first + k * step) for k < count.
void input_values(pattern kind, std::uint64_t seed, std::int64_t first, std::int64_t step, std::int64_t count,
                  double* to);
void input_values(pattern kind, std::uint64_t seed, std::int64_t first, std::int64_t step, std::int64_t count,
                  float* to);
void input_values(pattern kind, std::uint64_t seed, std::int64_t first, std::int64_t step, std::int64_t count,
                  std::int64_t* to);
void input_values(pattern kind, std::uint64_t seed, std::int64_t first, std::int64_t step, std::int64_t count,
                  std::int32_t* to);
void input_values(pattern kind, std::uint64_t seed, std::int64_t first, std::int64_t step, std::int64_t count,
                  unsigned char* to);
template <class T>
void input_values(pattern kind, std::uint64_t seed, std::int64_t first, std::int64_t step, std::int64_t count,
                  T* to) {
  for (std::int64_t k = 0; k < count; ++k) to[k] = input_value<T>(kind, seed, first + k * step);
}

// The sum over k < count of random_bits(keys[k], first + k): a digest of keys and their places.
std::uint64_t sum_of_hashes(const std::uint64_t* keys, std::int64_t first, std::int64_t count);

}  // namespace lab
