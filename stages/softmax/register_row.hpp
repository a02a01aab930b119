// A row, or a part of one, in the registers of some threads, as stage 04_in_registers introduces it.
#pragma once

#include "stages/softmax/problem.hpp"
#include "stages/softmax/row_state.hpp"

namespace lab::softmax {

#if defined(__CUDACC__) || LAB_EMULATED

// The part of thread `thread` of `threads`, which have up to 4 x `vectors` values each: vectors of 16 bytes,
// `threads` vectors apart. Where rows do not begin at multiples of 16 bytes, single values, `threads` apart.
template <int vectors>
class register_row {
 public:
  __device__ register_row(int thread, int threads, bool aligned)
      : thread_(thread), threads_(threads), aligned_(aligned) {}

  __device__ __forceinline__ void load(const float* __restrict__ row, std::int64_t columns) {
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (aligned_) {
        float4 four = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        if (column(v, 0) < columns) four = *reinterpret_cast<const float4*>(row + column(v, 0));
        values_[v][0] = four.x;
        values_[v][1] = four.y;
        values_[v][2] = four.z;
        values_[v][3] = four.w;
      } else {
#pragma unroll
        for (int k = 0; k < 4; ++k) values_[v][k] = column(v, k) < columns ? row[column(v, k)] : -INFINITY;
      }
    }
  }

  [[nodiscard]] __device__ __forceinline__ float largest() const {
    float all = -INFINITY;
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
#pragma unroll
      for (int k = 0; k < 4; ++k) all = maximum<float>{}(all, values_[v][k]);
    }
    return all;
  }

  // Replaces each value x by exp(x - shift_of(maximum)). The sum of the thread's.
  __device__ __forceinline__ float to_exponentials(float maximum) {
    const float shift = shift_of(maximum);
    float all = 0;
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
#pragma unroll
      for (int k = 0; k < 4; ++k) all += values_[v][k] = expf(values_[v][k] - shift);
    }
    return all;
  }

  __device__ __forceinline__ void store(float* __restrict__ row, std::int64_t columns, float factor) const {
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      const auto& own = values_[v];
      if (aligned_) {
        if (column(v, 0) < columns)
          *reinterpret_cast<float4*>(row + column(v, 0)) =
              make_float4(own[0] * factor, own[1] * factor, own[2] * factor, own[3] * factor);
      } else {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          if (column(v, k) < columns) row[column(v, k)] = own[k] * factor;
        }
      }
    }
  }

 private:
  [[nodiscard]] __device__ __forceinline__ int column(int v, int k) const {
    return aligned_ ? (v * threads_ + thread_) * 4 + k : (v * 4 + k) * threads_ + thread_;
  }

  float values_[vectors][4];
  int thread_;
  int threads_;
  bool aligned_;
};

// What the exponentials of a part are multiplied with, where `part` was their maximum.
__device__ __forceinline__ float factor_of(float part, const row_state& row) {
  return expf(part - shift_of(row.maximum)) / row.sum;
}

#endif

// Threads of a block, whole warps, that have `each` values each of so many.
inline int threads_for(std::int64_t values, int each) {
  return static_cast<int>(parts(values, std::int64_t{32} * each) * 32);
}

}  // namespace lab::softmax
