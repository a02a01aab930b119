// A row, or a part of one, in the registers of some threads, as stage 04_in_registers introduces it.
#pragma once

#include "stages/softmax/problem.hpp"
#include "stages/softmax/row_state.hpp"

namespace lab::softmax {

// Of 16 bytes.
template <class T>
inline constexpr int vector_values = 16 / sizeof(T);

#if defined(__CUDACC__) || LAB_EMULATED

// The values of 16 bytes, which one instruction loads, and which one will store.
template <class T>
__device__ __forceinline__ void read_vector(const T* from, float (&to)[vector_values<T>]) {
  const uint4 words = *reinterpret_cast<const uint4*>(from);
  const std::uint32_t word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int k = 0; k < vector_values<T>; ++k) {
    if constexpr (sizeof(T) == 4) {
      to[k] = __uint_as_float(word[k]);
    } else {
      to[k] = __uint_as_float(k % 2 == 0 ? word[k / 2] << 16 : word[k / 2] & 0xffff0000u);
    }
  }
}
// Two bfloat16 in a word.
__device__ __forceinline__ std::uint32_t word_of(float lower, float upper) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(upper), "f"(lower));
  return word;
#else
  return bfloat16(lower).bits | static_cast<std::uint32_t>(bfloat16(upper).bits) << 16;
#endif
}
template <class T>
__device__ __forceinline__ uint4 words_of(const float (&from)[vector_values<T>], float factor) {
  std::uint32_t word[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if constexpr (sizeof(T) == 4) {
      word[k] = __float_as_uint(from[k] * factor);
    } else {
      word[k] = word_of(from[2 * k] * factor, from[2 * k + 1] * factor);
    }
  }
  return make_uint4(word[0], word[1], word[2], word[3]);
}

// The part of thread `thread` of `threads`, which have up to `values` values each: vectors of 16 bytes,
// `threads` vectors apart. Where rows do not begin at multiples of 16 bytes, single values, `threads` apart.
template <class T, int values>
class register_row {
  static constexpr int of_vector = vector_values<T>;
  static constexpr int vectors = values / of_vector;

 public:
  __device__ register_row(int thread, int threads, std::int64_t columns)
      : thread_(thread), threads_(threads), aligned_(columns % of_vector == 0) {}

  __device__ __forceinline__ void load(const T* __restrict__ row, std::int64_t length) {
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (aligned_) {
#pragma unroll
        for (float& x : values_[v]) x = -INFINITY;
        if (column(v, 0) < length) read_vector(row + column(v, 0), values_[v]);
      } else {
#pragma unroll
        for (int k = 0; k < of_vector; ++k)
          values_[v][k] = column(v, k) < length ? static_cast<float>(row[column(v, k)]) : -INFINITY;
      }
    }
  }

  [[nodiscard]] __device__ __forceinline__ float largest() const {
    float all = -INFINITY;
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
#pragma unroll
      for (int k = 0; k < of_vector; ++k) all = maximum<float>{}(all, values_[v][k]);
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
      for (int k = 0; k < of_vector; ++k) all += values_[v][k] = expf(values_[v][k] - shift);
    }
    return all;
  }

  __device__ __forceinline__ void store(T* __restrict__ row, std::int64_t length, float factor) const {
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      if (aligned_) {
        if (column(v, 0) < length)
          *reinterpret_cast<uint4*>(row + column(v, 0)) = words_of<T>(values_[v], factor);
      } else {
#pragma unroll
        for (int k = 0; k < of_vector; ++k) {
          if (column(v, k) < length) row[column(v, k)] = values_[v][k] * factor;
        }
      }
    }
  }

 private:
  [[nodiscard]] __device__ __forceinline__ int column(int v, int k) const {
    return aligned_ ? (v * threads_ + thread_) * of_vector + k : (v * of_vector + k) * threads_ + thread_;
  }

  float values_[vectors][of_vector];
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
