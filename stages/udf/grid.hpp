// The grid that every stage but the vectorized one launches: what the device holds at once, so that the
// stages differ in the function alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/cuda.hpp"
#include "common/multiprocessors.hpp"

namespace lab::udf {

inline constexpr int block_threads = 256;
inline constexpr int blocks_of_multiprocessor = 8;

inline dim3 grid_for(std::int64_t n) {
  const std::int64_t wanted = (n + block_threads - 1) / block_threads;
  return dim3(static_cast<unsigned>(
      std::min<std::int64_t>(wanted, std::int64_t{blocks_of_multiprocessor} * multiprocessors())));
}

}  // namespace lab::udf
