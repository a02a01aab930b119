// A block's tile, as stage 04_vectorized introduces it in registers: each warp has eight neighbouring pieces
// of 32 vectors of 16 bytes, and each lane a vector of each piece.
#pragma once

#include "stages/scan/problem.hpp"
#include "stages/scan/warp_scan.hpp"

namespace lab::scan {

inline constexpr int tile_threads = 256;
// Blocks of a multiprocessor: 64 registers for each thread, and 1024 threads with 128 bytes each, 128 KiB in
// flight. What comes before a vector of int64 takes two registers, so that 64 would not do.
template <class T>
inline constexpr int tile_blocks = sizeof(T) == 8 ? 3 : 4;
inline constexpr int lane_vectors = 8;

// A value's longest way through a tile's scan: its vector, the lanes, the pieces, the warps, and what comes
// before each of them.
inline constexpr int tile_additions = 4 + 5 + lane_vectors + tile_threads / 32 + 6;

template <class T>
struct alignas(16) tile_vector {
  T value[16 / sizeof(T)];
};

// Where the thread's vector v lies in the tile.
template <class T>
__device__ __forceinline__ int tile_offset(int v) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  return ((warp * lane_vectors + v) * 32 + lane) * static_cast<int>(16 / sizeof(T));
}

// The thread's vectors of a tile in shared memory.
template <class T>
class shared_vectors {
 public:
  __device__ explicit shared_vectors(T* tile) : tile_(tile) {}
  __device__ __forceinline__ tile_vector<T>& operator[](int v) const {
    return *reinterpret_cast<tile_vector<T>*>(tile_ + tile_offset<T>(v));
  }

 private:
  T* tile_;
};

// `Vectors`: the thread's own.
template <class T, class Operation, class Vectors>
class block_tile {
 public:
  static constexpr int vector_values = 16 / sizeof(T);
  static constexpr int values = tile_threads * lane_vectors * vector_values;

  block_tile() = default;
  __device__ explicit block_tile(T* tile) : own_(tile) {}

  // Reads values `first` and on, aligned to 16 bytes; behind the n-th there are neutral elements.
  __device__ __forceinline__ void load(const T* array, std::int64_t first, std::int64_t n) {
    const bool is_whole = first + values <= n;
#pragma unroll
    for (int v = 0; v < lane_vectors; ++v) {
      const std::int64_t at = first + tile_offset<T>(v);
      if (is_whole) {
        own_[v] = *reinterpret_cast<const tile_vector<T>*>(array + at);
      } else {
#pragma unroll
        for (int k = 0; k < vector_values; ++k)
          own_[v].value[k] = at + k < n ? array[at + k] : Operation::identity();
      }
    }
  }

  // The tile's total. All threads of the block call; a barrier stands between two calls.
  __device__ __forceinline__ T scan() {
    constexpr Operation combine{};
    constexpr int warps = tile_threads / 32;
    __shared__ T of_warp[warps];
    const int warp = static_cast<int>(threadIdx.x) / 32;
    T run = Operation::identity();
#pragma unroll
    for (int v = 0; v < lane_vectors; ++v) {
      const tile_vector<T> own = own_[v];
      T of_vector = own.value[0];
#pragma unroll
      for (int k = 1; k < vector_values; ++k) of_vector = combine(of_vector, own.value[k]);
      const T in_piece = warp_scan(of_vector, combine);
      const T before = __shfl_up_sync(0xffffffffu, in_piece, 1);
      before_[v] = threadIdx.x % 32 == 0 ? run : combine(run, before);
      run = combine(run, __shfl_sync(0xffffffffu, in_piece, 31));
    }
    if (threadIdx.x % 32 == 0) of_warp[warp] = run;
    __syncthreads();
    T total = Operation::identity();
    T before_warp = total;
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      if (w == warp) before_warp = total;
      total = combine(total, of_warp[w]);
    }
#pragma unroll
    for (int v = 0; v < lane_vectors; ++v) before_[v] = combine(before_warp, before_[v]);
    return total;
  }

  // Writes the results, where `before` combines all values before the tile.
  __device__ __forceinline__ void store(T* results, std::int64_t first, std::int64_t n, T before,
                                        bool inclusive) {
    constexpr Operation combine{};
    const bool is_whole = first + values <= n;
#pragma unroll
    for (int v = 0; v < lane_vectors; ++v) {
      T run = combine(before, before_[v]);
      const tile_vector<T> own = own_[v];
      tile_vector<T> result;
#pragma unroll
      for (int k = 0; k < vector_values; ++k) {
        const T with_own = combine(run, own.value[k]);
        result.value[k] = inclusive ? with_own : run;
        run = with_own;
      }
      const std::int64_t at = first + tile_offset<T>(v);
      if (is_whole) {
        *reinterpret_cast<tile_vector<T>*>(results + at) = result;
      } else {
#pragma unroll
        for (int k = 0; k < vector_values; ++k) {
          if (at + k < n) results[at + k] = result.value[k];
        }
      }
    }
  }

 private:
  Vectors own_;
  T before_[lane_vectors];  // what comes before the thread's vectors in the tile
};

template <class T, class Operation>
using register_tile = block_tile<T, Operation, tile_vector<T>[lane_vectors]>;

// Values of a tile of 4-byte elements, the most that a tile has.
inline constexpr int largest_tile = register_tile<float, sum<float>>::values;

}  // namespace lab::scan
