// Keys of 32 bits and up to 65 536 bins: counts of 16 bits, two in a word, are 128 KiB of shared memory,
// where those of 32 bits do not fit. Whoever takes a count beyond 65 535 adds 65 536 to the one in global
// memory. A thread counts the key that it meets most in a register, since lanes with the same key would take
// turns.
#include "common/multiprocessors.hpp"
#include "stages/histogram/problem.hpp"

namespace lab::histogram::narrow_counts {
namespace {

constexpr int block_threads = 1024;
constexpr int vectors = 2;  // of 4 keys, that a thread has on their way
constexpr std::int64_t tile_keys = 4 * vectors * block_threads;
constexpr int block_words = word_bins / 2;    // 128 KiB
constexpr std::uint32_t no_key = 0xffffffff;  // which has no bin

// The counts of keys 2 k and 2 k + 1 are the lower and the upper half of word k.
struct block_counts {
  std::uint32_t* words;
  std::uint32_t* counts;  // in global memory

  // Adds up to 65 535 to the key's half. The word before, for settle().
  __device__ __forceinline__ std::uint32_t add(std::uint32_t key, std::uint32_t count) const {
    return key < word_bins ? atomicAdd(&words[key / 2], count << key % 2 * 16) : 0;
  }
  // Where the half has passed 65 535. The lower one has carried 1 into the upper one, and takes it back; the
  // upper one may have passed 65 535 by the carry, and 0 without it. In whatever order threads add, each
  // corrects what it has done itself.
  __device__ __forceinline__ void settle(std::uint32_t key, std::uint32_t count, std::uint32_t before) const {
    if ((before >> key % 2 * 16 & 0xffff) + count <= 0xffff) return;
    atomicAdd(&counts[key], 0x10000u);
    if (key % 2 == 1) return;
    if (before + count < before) atomicAdd(&counts[key + 1], 0x10000u);
    if (atomicSub(&words[key / 2], 0x10000u) < 0x10000u) atomicSub(&counts[key + 1], 0x10000u);
  }
  // Any number of equal keys.
  __device__ __forceinline__ void add_run(std::uint32_t key, std::uint32_t length) const {
    if (key < word_bins && length > 0xffff) atomicAdd(&counts[key], length & 0xffff0000u);
    settle(key, length & 0xffff, add(key, length & 0xffff));
  }
};

// The thread's next vectors, vector `first` of the array and on; behind the last there are keys without a
// bin.
struct key_vectors {
  uint4 own[vectors];

  __device__ __forceinline__ void load(const std::uint32_t* __restrict__ keys, std::int64_t first,
                                       std::int64_t whole) {
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      own[v] = make_uint4(no_key, no_key, no_key, no_key);
      const std::int64_t i = first + v * block_threads;
      if (i < whole) own[v] = reinterpret_cast<const uint4*>(keys)[i];
    }
  }
};

__global__ void __launch_bounds__(block_threads, 1)
    histogram_kernel(const std::uint32_t* __restrict__ keys, std::int64_t n, std::uint32_t* counts) {
  const block_counts own{dynamic_shared<std::uint32_t>(), counts};
  const auto thread = static_cast<int>(threadIdx.x);
  for (int k = thread; k < block_words; k += block_threads) own.words[k] = 0;
  const std::int64_t whole = n / 4, stride = static_cast<std::int64_t>(gridDim.x) * tile_keys / 4;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_keys / 4 + thread;
  key_vectors next;
  next.load(keys, first, whole);
  __syncthreads();
  std::uint32_t frequent = no_key, length = 0;
  for (; first < whole; first += stride) {
    const key_vectors now = next;
    next.load(keys, first + stride, whole);
#pragma unroll
    for (const uint4& four : now.own) {
      if (four.x == four.y && four.x != frequent) {
        own.add_run(frequent, length);
        frequent = four.x;
        length = 0;
      }
      const std::uint32_t key[4] = {four.x, four.y, four.z, four.w};
      std::uint32_t before[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        before[k] = key[k] != frequent ? own.add(key[k], 1) : 0;
        length += key[k] == frequent ? 1 : 0;
      }
#pragma unroll
      for (int k = 0; k < 4; ++k) own.settle(key[k], 1, before[k]);
    }
  }
  own.add_run(frequent, length);
  // At most 3 keys behind the last vector.
  if (blockIdx.x == 0 && thread < n - 4 * whole) own.add_run(keys[4 * whole + thread], 1);
  __syncthreads();
  for (int k = thread; k < word_bins; k += block_threads) {
    const std::uint32_t count = own.words[k / 2] >> k % 2 * 16 & 0xffff;
    if (count != 0) atomicAdd(&counts[k], count);
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(out.counts, 0, word_bins * sizeof(std::uint32_t), stream));
  const std::int64_t blocks = std::min<std::int64_t>(parts(in.n, tile_keys), multiprocessors());
  lab::launch(histogram_kernel, dim3(static_cast<unsigned>(blocks)), dim3(block_threads),
              block_words * sizeof(std::uint32_t), stream, in.words(), in.n, out.counts);
}

std::string unsupported(const problem::parameters& p) {
  if (static_cast<key_type>(p.type) != key_type::uint32)
    return "keys must be uint32: bytes need no narrow counts";
  int device = 0;
  int most = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  constexpr int needed = block_words * sizeof(std::uint32_t);
  if (needed <= most) return "";
  return "its counts are " + std::to_string(needed) + " bytes: a block has shared memory for at most " +
         std::to_string(most);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "32-bit keys: counts of 16 bits, and carries to global memory",
     .launch = launch,
     .unsupported = unsupported,
     .tile = tile_keys}};

}  // namespace
}  // namespace lab::histogram::narrow_counts
