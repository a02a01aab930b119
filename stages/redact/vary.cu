// The harness's own kernel: it makes the inputs of the launches that are timed.
#include "stages/redact/vary.hpp"

#include <cstring>

namespace lab::redact {
namespace {

constexpr int block_threads = 256;

// One thread for each 16 bytes, which it loads at once where they are whole.
__global__ void vary_kernel(char* chars, std::int64_t bytes, std::uint64_t from, std::uint64_t to) {
  const std::int64_t word = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  const std::int64_t begin = word * varied_bytes;
  if (begin >= bytes) return;
  const int turn = 26 + turn_of(to, word) - turn_of(from, word);
  if (begin + varied_bytes > bytes) {
    for (std::int64_t i = begin; i < bytes; ++i) chars[i] = turned(chars[i], turn);
    return;
  }
  auto* const place = reinterpret_cast<uint4*>(chars + begin);
  uint4 loaded = *place;
  char letters[varied_bytes];
  memcpy(letters, static_cast<const void*>(&loaded), sizeof letters);
#pragma unroll
  for (int k = 0; k < varied_bytes; ++k) letters[k] = turned(letters[k], turn);
  memcpy(static_cast<void*>(&loaded), letters, sizeof letters);
  *place = loaded;
}

}  // namespace

void vary_letters(char* chars, std::int64_t bytes, std::uint64_t from, std::uint64_t to,
                  cudaStream_t stream) {
  const std::int64_t per_block = block_threads * varied_bytes;
  launch(vary_kernel, dim3(static_cast<unsigned>((bytes + per_block - 1) / per_block)), dim3(block_threads),
         0, stream, chars, bytes, from, to);
}

}  // namespace lab::redact
