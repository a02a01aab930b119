// What the device's memory holds, read by the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "common/all_cores.hpp"
#include "common/memory.hpp"
#include "harness/device/host_array.hpp"
#include "harness/device/kernels.hpp"

namespace lab {

// The same values in another type, made on all cores.
template <class To, class From>
host_array<To> converted(const host_array<From>& from) {
  constexpr std::int64_t piece_values = std::int64_t{1} << 18;
  host_array<To> result(from.size());
  for_pieces_on_all_cores(from.size(), piece_values, [&](std::int64_t begin, std::int64_t end, unsigned) {
    std::transform(from.data() + begin, from.data() + end, result.data() + begin,
                   [](From value) { return static_cast<To>(value); });
  });
  return result;
}

// The first of `size` values in which two arrays differ; `size` where there is none.
template <class T>
std::int64_t first_difference(const T* found, const T* right, std::int64_t size) {
  constexpr std::int64_t piece_values = std::int64_t{1} << 18;
  smallest first(size);
  for_pieces_on_all_cores(size, piece_values, [&](std::int64_t begin, std::int64_t end, unsigned) {
    if (std::memcmp(found + begin, right + begin, static_cast<std::size_t>(end - begin) * sizeof(T)) == 0)
      return;
    first.offer(std::mismatch(right + begin, right + end, found + begin).first - right);
  });
  return first.get();
}

// Every function waits for the stream.
class device_reader {
 public:
  explicit device_reader(cudaStream_t stream) : stream_(stream), found_(2, stream), digest_(1, stream) {}

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

  template <class T>
  host_array<T> read_array(const T* values, std::int64_t size) const {
    host_array<T> found(size);
    copy_back(found.data(), values, size * static_cast<std::int64_t>(sizeof(T)));
    return found;
  }

  // `size` offsets of 32 or 64 bits.
  [[nodiscard]] host_array<std::int64_t> read_offsets(const void* offsets, int offset_bits,
                                                      std::int64_t size) const {
    if (offset_bits == 64) return read_array(static_cast<const std::int64_t*>(offsets), size);
    return converted<std::int64_t>(read_array(static_cast<const std::int32_t*>(offsets), size));
  }

  [[nodiscard]] std::int64_t read_offset(const void* offsets, int offset_bits, std::int64_t row) const {
    if (offset_bits == 32) return read(static_cast<const std::int32_t*>(offsets) + row);
    return read(static_cast<const std::int64_t*>(offsets) + row);
  }

  // A hash of all bits and their positions.
  [[nodiscard]] std::uint64_t hash(const device_values& values) const {
    hash_bits(values, digest_.data(), stream_);
    return read(digest_.data());
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
  cudaStream_t stream_;
  device_buffer<std::int64_t> found_;
  device_buffer<std::uint64_t> digest_;
};

}  // namespace lab
