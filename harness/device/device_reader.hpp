// What the device's memory holds, read by the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "common/memory.hpp"
#include "harness/device/host_array.hpp"
#include "harness/device/kernels.hpp"

namespace lab {

// Every function waits for the stream.
class device_reader {
 public:
  static constexpr std::int64_t piece_bytes = std::int64_t{1} << 25;  // at a time between host and device

  explicit device_reader(cudaStream_t stream)
      : stream_(stream), found_(2, stream), digests_(most_hashes, stream) {}

  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  void copy_back(void* to, const void* from, std::int64_t bytes) const {
    if (bytes == 0) return;
    CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
  }

  template <class T>
  T read(const T* value) const {
    T found{};
    copy_back(&found, value, sizeof found);
    return found;
  }

  // Calls visit(first, count, values) with `size` values of the device's, piece by piece.
  template <class T, class Visit>
  void for_pieces(const T* values, std::int64_t size, const Visit& visit) const {
    constexpr std::int64_t most = piece_bytes / static_cast<std::int64_t>(sizeof(T));
    const host_array<T> piece(std::min(size, most));
    for (std::int64_t first = 0; first < size; first += most) {
      const std::int64_t count = std::min(most, size - first);
      copy_back(piece.data(), values + first, count * static_cast<std::int64_t>(sizeof(T)));
      visit(first, count, static_cast<const T*>(piece.data()));
    }
  }

  // The same with `size` offsets of 32 or 64 bits.
  template <class Visit>
  void for_offsets(const void* offsets, int offset_bits, std::int64_t size, const Visit& visit) const {
    if (offset_bits == 32) {
      for_pieces(static_cast<const std::int32_t*>(offsets), size, visit);
    } else {
      for_pieces(static_cast<const std::int64_t*>(offsets), size, visit);
    }
  }

  [[nodiscard]] std::int64_t read_offset(const void* offsets, int offset_bits, std::int64_t row) const {
    if (offset_bits == 32) return read(static_cast<const std::int32_t*>(offsets) + row);
    return read(static_cast<const std::int64_t*>(offsets) + row);
  }

  // A hash of all bits and their places. T is float (any 4 bytes) or std::int64_t.
  template <class T>
  std::uint64_t hash(const T* words, std::int64_t count) const {
    hash_bits(words, count, digests_.data(), stream_);
    return read(digests_.data());
  }

  // The same of several runs of words. Waits once for `most_hashes` of them.
  template <class T>
  std::vector<std::uint64_t> hashes(const std::vector<std::span<const T>>& runs) const {
    std::vector<std::uint64_t> all(runs.size());
    for (std::size_t first = 0; first < runs.size(); first += most_hashes) {
      const std::size_t count = std::min(runs.size() - first, most_hashes);
      for (std::size_t k = 0; k < count; ++k) {
        const std::span<const T> words = runs[first + k];
        hash_bits(words.data(), std::ssize(words), digests_.data() + k, stream_);
      }
      copy_back(all.data() + first, digests_.data(), static_cast<std::int64_t>(count * sizeof all[0]));
    }
    return all;
  }

  // The first of `count` bytes that is not `byte`, if any.
  std::optional<std::int64_t> first_other_byte(const void* bytes, std::int64_t count,
                                               unsigned char byte) const {
    if (count == 0) return std::nullopt;
    find_other_byte(static_cast<const unsigned char*>(bytes), count, byte, found_.data(), stream_);
    const std::int64_t first = read(found_.data());
    return first < count ? std::optional(first) : std::nullopt;
  }

  // Two words of the device's, for guarded_buffer::changed_guard().
  [[nodiscard]] std::int64_t* scratch() const { return found_.data(); }

 private:
  static constexpr std::size_t most_hashes = 16;

  cudaStream_t stream_;
  device_buffer<std::int64_t> found_;
  device_buffer<std::uint64_t> digests_;
};

}  // namespace lab
