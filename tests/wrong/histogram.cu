// The track's wrong kernels, each to be refused for one mistake.
#include "stages/histogram/problem.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::histogram::wrong {
namespace {

constexpr int block_threads = 256;
constexpr std::int64_t tile_bytes = 16 * block_threads;

enum class mistake {
  none,
  missing_barrier,  // bins are added up while others count
  bins_not_zeroed,
  tail_left_out,  // bytes behind the last 16
  signed_index,   // a byte of 128 or more is a negative index; none is counted here
  plain_addition,
  counts_not_zeroed,
  zero_not_counted,   // as if 0 were no byte
  counts_in_12_bits,  // 4096 equal bytes of a block are none
  // Of counts of 16 bits, two in a word:
  carry_lost,    // 65 536 equal keys are none
  carry_left,    // and one of the next key
  large_counted  // a key without a bin is counted at another
};

template <mistake which>
__global__ void histogram_kernel(const unsigned char* bytes, std::int64_t n, std::uint32_t* counts) {
  __shared__ std::uint32_t block_counts[byte_bins];
  if (which != mistake::bins_not_zeroed) block_counts[threadIdx.x] = 0;
  __syncthreads();
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_bytes;
  const std::int64_t last = which == mistake::tail_left_out ? n / 16 * 16 : n;
  const std::int64_t end = min(first + tile_bytes, last);
  if (which == mistake::plain_addition) {
    // As a GPU does: the lanes of a warp read, and then they write.
    for (std::int64_t i = first; i < end; i += block_threads) {
      const bool is_there = i + threadIdx.x < end;
      std::uint32_t* const bin = &block_counts[is_there ? bytes[i + threadIdx.x] : 0];
      const std::uint32_t before = *bin;
      __syncwarp();
      if (is_there) *bin = before + 1;
      __syncwarp();
    }
  }
  for (std::int64_t i = first + threadIdx.x; i < end && which != mistake::plain_addition;
       i += block_threads) {
    const unsigned char byte = bytes[i];
    if (which == mistake::signed_index && static_cast<signed char>(byte) < 0) continue;
    if (which == mistake::zero_not_counted && byte == 0) continue;
    atomicAdd(&block_counts[byte], 1u);
  }
  if (which != mistake::missing_barrier) __syncthreads();
  std::uint32_t count = block_counts[threadIdx.x];
  if (which == mistake::counts_in_12_bits) count &= 0xfff;
  atomicAdd(&counts[threadIdx.x], count);
}

template <mistake which>
void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (which != mistake::counts_not_zeroed)
    CUDA_CHECK(cudaMemsetAsync(out.counts, 0, byte_bins * sizeof(std::uint32_t), stream));
  if (in.n == 0) return;
  const auto blocks = static_cast<unsigned>((in.n + tile_bytes - 1) / tile_bytes);
  lab::launch(histogram_kernel<which>, dim3(blocks), dim3(block_threads), 0, stream, in.bytes(), in.n,
              out.counts);
}

template <mistake which>
stage<problem> wrong_stage(const char* idea) {
  return {.idea = idea, .launch = launch<which>, .unsupported = bytes_alone, .tile = tile_bytes};
}

// One block.
template <mistake which>
__global__ void narrow_kernel(const std::uint32_t* keys, std::int64_t n, std::uint32_t* counts) {
  auto* const words = dynamic_shared<std::uint32_t>();
  for (unsigned k = threadIdx.x; k < word_bins / 2; k += block_threads) words[k] = 0;
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < n; i += block_threads) {
    const std::uint32_t key = which == mistake::large_counted ? keys[i] % word_bins : keys[i];
    if (key >= word_bins) continue;
    const unsigned shift = key % 2 * 16;
    if ((atomicAdd(&words[key / 2], 1u << shift) >> shift & 0xffff) != 0xffff) continue;
    if (which != mistake::carry_lost) atomicAdd(&counts[key], 0x10000u);
    if (which != mistake::carry_left && shift == 0) atomicSub(&words[key / 2], 0x10000u);
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; k < word_bins; k += block_threads)
    atomicAdd(&counts[k], words[k / 2] >> k % 2 * 16 & 0xffff);
}

template <mistake which>
stage<problem> wrong_counts(const char* idea) {
  return {.idea = idea,
          .launch =
              [](const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
                CUDA_CHECK(cudaMemsetAsync(out.counts, 0, word_bins * sizeof(std::uint32_t), stream));
                lab::launch(narrow_kernel<which>, dim3(1), dim3(block_threads), word_bins * 2, stream,
                            in.words(), in.n, out.counts);
              },
          .unsupported = [](const problem::parameters& p) -> std::string {
            return static_cast<key_type>(p.type) == key_type::uint32 ? "" : "keys must be uint32";
          }};
}

MISTAKE(missing_barrier, failure_kind::wrong, "wrong at index", "no barrier before the end");
MISTAKE(bins_not_zeroed, failure_kind::wrong, "wrong at index", "takes shared memory for zeros");
MISTAKE(tail_left_out, failure_kind::wrong, "wrong at index", "counts whole vectors alone");
MISTAKE(signed_index, failure_kind::wrong, "wrong at index", "takes bytes for signed");
MISTAKE(plain_addition, failure_kind::wrong, "wrong at index", "adds without atomics");
MISTAKE(counts_not_zeroed, failure_kind::wrong, "wrong at index", "adds to what was there");
MISTAKE(zero_not_counted, failure_kind::wrong, "wrong at index 0", "leaves out bytes of 0");
MISTAKE(counts_in_12_bits, failure_kind::wrong, "wrong at index", "cuts a block's counts");
// Right up to 2^22 keys: 1024 blocks, and no more, have a place for what they count.
WRONG(blocks_1024, failure_kind::wrong, on_emulator("n=4300001"),
      {.idea = "counts what 1024 blocks do",
       .launch =
           [](const input& in, const output& out, workspace scratch, cudaStream_t stream) {
             input counted = in;
             counted.n = std::min(in.n, 1024 * tile_bytes);
             launch<mistake::none>(counted, out, scratch, stream);
           },
       .unsupported = bytes_alone,
       .tile = tile_bytes});
WRONG(carry_lost, failure_kind::wrong, "n=1200007",
      wrong_counts<mistake::carry_lost>("loses what 16 bits do not hold"));
WRONG(carry_left, failure_kind::wrong, "n=1200007",
      wrong_counts<mistake::carry_left>("leaves it at the next key"));
WRONG(large_counted, failure_kind::wrong, "wrong at index",
      wrong_counts<mistake::large_counted>("counts keys without a bin"));

}  // namespace
}  // namespace lab::histogram::wrong
