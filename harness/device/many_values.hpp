// What references need of generated inputs by the million, many at a time: loops that the compiler makes
// vectors of, in the widest that the processor has.
#pragma once

#include <cstdint>

#include "harness/device/element_type.hpp"
#include "harness/device/inputs.hpp"

namespace lab {

// to[k] = input_value<T>(kind, seed, first + k * step) for k < count, where T is the type with this name.
void input_values(pattern kind, std::uint64_t seed, std::int64_t first, std::int64_t step, std::int64_t count,
                  element_type type, void* to);
template <class T>
void input_values(pattern kind, std::uint64_t seed, std::int64_t first, std::int64_t step, std::int64_t count,
                  T* to) {
  input_values(kind, seed, first, step, count, element_of<T>(), to);
}

// The sum over k < count of random_bits(keys[k], first + k): a digest of keys and their indices.
std::uint64_t sum_of_hashes(const std::uint64_t* keys, std::int64_t first, std::int64_t count);

// Of `count` values, added in float64: their sum, and the sum of their magnitudes.
struct float64_sums {
  double values = 0;
  double magnitudes = 0;
};
float64_sums sums_of_many(const float* values, std::int64_t count);

// sums[k] += weight * values[k] for k < count.
void add_weighted(double weight, const double* values, std::int64_t count, double* sums);

}  // namespace lab
