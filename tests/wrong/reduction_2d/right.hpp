// Sums of rows and columns as they should be, from which each wrong kernel departs in one way.
#pragma once

#include "stages/reduction_2d/problem.hpp"

namespace lab::reduction_2d::wrong {

inline constexpr int block_threads = 128;

// One thread for each sum: `count` values, `step` apart, of which the first of sum i is at i * begin_step.
struct walk {
  std::int64_t sums;
  std::int64_t count;
  std::int64_t begin_step;
  std::int64_t step;
};

inline walk walk_of(const input& in) {
  if (in.result == result::rows) return {in.rows, in.columns, in.pitch, 1};
  return {in.columns, in.rows, 1, in.pitch};
}

__device__ inline float sum_along(const float* values, const walk& way, std::int64_t i) {
  float sum = 0;
  for (std::int64_t k = 0; k < way.count; ++k) sum += values[i * way.begin_step + k * way.step];
  return sum;
}

// The sum of all is not what these get wrong.
inline std::string rows_and_columns_only(const problem::parameters& p) {
  return problem::result_of(p) == result::total ? "rows and columns only" : "";
}

inline void launch_walk(void (*kernel)(const float*, walk, float*), const input& in, const walk& way,
                        float* sums, cudaStream_t stream) {
  lab::launch(kernel, grid(parts(way.sums, block_threads)), dim3(block_threads), 0, stream, in.values, way,
              sums);
}

}  // namespace lab::reduction_2d::wrong
