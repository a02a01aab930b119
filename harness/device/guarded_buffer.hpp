// Device memory in which a stray write shows.
#pragma once

#include <cstdint>
#include <optional>

#if LAB_EMULATED
#include "common/emulator/core/emulator.hpp"
#endif
#include "common/memory.hpp"
#include "harness/device/kernels.hpp"

namespace lab {

// Whether a launch may write to an array.
enum class array_use { written, read };

// So many bytes of device memory between two guard zones. Whatever writes beside them is found out, and what
// reads beside them reads NaN. On the emulator a launch that writes to memory that is to be read fails, even
// if it puts back what was there.
class guarded_buffer {
 public:
  // A multiple of every alignment that a kernel may hope for, and longer than a block's stray step.
  static constexpr std::int64_t guard_bytes = 16 * 1024;
  static constexpr unsigned char guard_byte = 0xff;

  guarded_buffer(std::int64_t size, cudaStream_t stream, [[maybe_unused]] array_use use = array_use::written)
      : size_(size), bytes_(needed_bytes(size), stream), stream_(stream) {
#if LAB_EMULATED
    emulator::narrow_allocation(data(), static_cast<std::size_t>(size));
    if (use == array_use::read) emulator::forbid_writes(data());
#endif
  }

  static std::size_t needed_bytes(std::int64_t size) {
    return static_cast<std::size_t>(size + 2 * guard_bytes);
  }

  [[nodiscard]] unsigned char* data() const {
    return bytes_.data() + guard_bytes;
  }
  [[nodiscard]] std::int64_t size() const {
    return size_;
  }

  // Marks the guards, and what is between them too.
  void poison_all() const {
    CUDA_CHECK(cudaMemsetAsync(bytes_.data(), guard_byte, bytes_.bytes(), stream_));
  }

  // Fills what is between them alone.
  void fill(memory_fill with, std::uint64_t seed) const {
    if (with == memory_fill::random) {
      fill_random(data(), size_, seed, stream_);
    } else if (size_ > 0) {
      CUDA_CHECK(cudaMemsetAsync(data(), with == memory_fill::zeros ? 0 : guard_byte,
                                 static_cast<std::size_t>(size_), stream_));
    }
  }

  // Enqueues a look at both guards: found[0] and found[1] become the first changed byte of each, or
  // guard_bytes.
  void look_at_guards(std::int64_t* found) const {
    find_other_byte(bytes_.data(), guard_bytes, guard_byte, found, stream_);
    find_other_byte(data() + size_, guard_bytes, guard_byte, found + 1, stream_);
  }

  // And at everything, as poison_all() left it: found[0] becomes the first changed byte, from the first guard
  // on, or needed_bytes(size()).
  void look_at_all(std::int64_t* found) const {
    find_other_byte(bytes_.data(), static_cast<std::int64_t>(bytes_.size()), guard_byte, found, stream_);
  }

  // The first changed byte of the guards, counted from the first byte between them (so negative before it),
  // if any; `found` is what look_at_guards() found, copied to the host.
  [[nodiscard]] std::optional<std::int64_t> changed_byte(const std::int64_t* found) const {
    if (found[0] < guard_bytes) return found[0] - guard_bytes;
    if (found[1] < guard_bytes) return size_ + found[1];
    return std::nullopt;
  }

  // Both in one. `found` is two device scratch words.
  [[nodiscard]] std::optional<std::int64_t> changed_guard(std::int64_t* found) const {
    look_at_guards(found);
    std::int64_t words[2] = {};
    CUDA_CHECK(cudaMemcpyAsync(words, found, sizeof words, cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    return changed_byte(words);
  }

 private:
  std::int64_t size_;
  device_buffer<unsigned char> bytes_;
  cudaStream_t stream_;
};

}  // namespace lab
