#include "harness/device/device_columns.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "common/all_cores.hpp"
#include "harness/device/letters.hpp"

namespace lab {
namespace {

// `from` must stay as it is until somebody waits.
void send(void* to, const void* from, std::int64_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
  CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream));
}

void send_offsets(unsigned char* to, const host_array<std::int64_t>& offsets, int offset_bits,
                  cudaStream_t stream) {
  if (offset_bits == 64) {
    send(to, offsets.data(), offsets.size() * 8, stream);
    return;
  }
  constexpr std::int64_t piece_values = device_reader::piece_bytes / 4;
  constexpr std::int64_t core_values = std::int64_t{1} << 18;
  const host_array<std::int32_t> piece(std::min(offsets.size(), piece_values));
  for (std::int64_t first = 0; first < offsets.size(); first += piece_values) {
    const std::int64_t count = std::min(offsets.size() - first, piece_values);
    for_pieces_on_all_cores(count, core_values, [&](std::int64_t begin, std::int64_t end, unsigned) {
      std::copy(offsets.data() + first + begin, offsets.data() + first + end, piece.data() + begin);
    });
    send(to + first * 4, piece.data(), count * 4, stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }
}

}  // namespace

device_columns::device_columns(std::span<const column> sent, int offset_bits, const device_reader& reader)
    : reader_(reader), offset_bits_(offset_bits) {
  const cudaStream_t stream = reader.stream();
  for (const column& from : sent) {
    const one_column& added = columns_.emplace_back(
        one_column{{from.offsets.size() * offset_bits / 8, stream}, {from.bytes(), stream}});
    added.offsets.poison_all();
    added.chars.poison_all();
    send_offsets(added.offsets.data(), from.offsets, offset_bits, stream);
    send(added.chars.data(), from.chars.data(), from.bytes(), stream);
  }
  hash_ = hash();  // and waits
}

strings device_columns::view(std::size_t k) const {
  const one_column& one = columns_[k];
  return {one.offsets.data(), reinterpret_cast<const char*>(one.chars.data()), one.chars.size()};
}

void device_columns::vary(std::size_t k, std::span<const column> sent, std::uint64_t from, std::uint64_t to) {
  const guarded_buffer& chars = columns_[k].chars;
  const auto turn = [&](std::uint64_t now, std::uint64_t then) {
    vary_letters(reinterpret_cast<char*>(chars.data()), chars.size(), now, then, reader_.stream());
  };
  // How far a letter is turned follows from its place.
  turn(from, 0);
  const std::int64_t rows = sent[k].rows();
  rotate(sent, first_row_of(from, rows), first_row_of(to, rows));
  turn(0, to);
  hash_ = hash();
}

void device_columns::rotate(std::span<const column> sent, std::int64_t from, std::int64_t to) {
  if (from == to) return;
  const cudaStream_t stream = reader_.stream();
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const column& of = sent[k];
    const std::int64_t rows = of.rows();
    const std::int64_t bytes = of.bytes();
    const std::int64_t first_row = (to - from + rows) % rows;
    const std::int64_t begin = of.offsets[to] - of.offsets[from] + (to < from ? bytes : 0);
    unsigned char* const offsets = columns_[k].offsets.data();
    unsigned char* const chars = columns_[k].chars.data();
    const auto copy = [&](unsigned char* at, const unsigned char* source, std::int64_t count) {
      if (count == 0) return;
      CUDA_CHECK(
          cudaMemcpyAsync(at, source, static_cast<std::size_t>(count), cudaMemcpyDeviceToDevice, stream));
    };
    const device_buffer<unsigned char> before(
        static_cast<std::size_t>(std::max(bytes, columns_[k].offsets.size())), stream);
    copy(before.data(), chars, bytes);
    copy(chars, before.data() + begin, bytes - begin);
    copy(chars + (bytes - begin), before.data(), begin);
    copy(before.data(), offsets, columns_[k].offsets.size());
    const auto rotate_as = [&](auto* moved) {
      using offset = std::remove_pointer_t<decltype(moved)>;
      rotate_offsets(reinterpret_cast<const offset*>(before.data()), moved, rows, first_row, begin, bytes,
                     stream);
    };
    if (offset_bits_ == 64) {
      rotate_as(reinterpret_cast<std::int64_t*>(offsets));
    } else {
      rotate_as(reinterpret_cast<std::int32_t*>(offsets));
    }
  }
}

std::uint64_t device_columns::hash() const {
  std::vector<std::span<const std::int64_t>> runs;
  for_buffers([&](const guarded_buffer& buffer) {
    // What is left of the last word is the end of a guard.
    constexpr std::int64_t guard = guarded_buffer::guard_bytes;
    const std::size_t bytes = guarded_buffer::needed_bytes(buffer.size());
    runs.emplace_back(reinterpret_cast<const std::int64_t*>(buffer.data() - guard), bytes / 8);
  });
  std::uint64_t value = 0;
  for (const std::uint64_t one : reader_.hashes(runs)) value = random_bits(value, one);
  return value;
}

std::optional<failure_record> device_columns::check(std::span<const column> right) const {
  std::optional<failure_record> stray;
  for_buffers([&](const guarded_buffer& buffer) {
    if (stray) return;
    if (const auto byte = buffer.changed_guard(reader_.scratch())) {
      stray = failure_record{.kind = failure_kind::out_of_bounds,
                             .found = "a write to byte " + std::to_string(*byte) + " of an input of " +
                                      std::to_string(buffer.size()) + " bytes"};
    }
  });
  if (stray) return stray;
  for (std::size_t k = 0; k < right.size(); ++k) {
    if (const auto row = first_changed_row(columns_[k], right[k]))
      return failure_record{.kind = failure_kind::input_changed, .index = row};
  }
  return failure_record{.kind = failure_kind::input_changed};
}

std::optional<std::int64_t> device_columns::first_changed_row(const one_column& now,
                                                              const column& right) const {
  std::optional<std::int64_t> row;
  const auto compare_offsets = [&](std::int64_t first, std::int64_t count, const auto* offsets) {
    for (std::int64_t k = 0; k < count && !row; ++k) {
      if (offsets[k] != right.offsets[first + k]) row = first + k;
    }
  };
  const auto compare_chars = [&](std::int64_t first, std::int64_t count, const char* chars) {
    for (std::int64_t k = 0; k < count && !row; ++k) {
      if (chars[k] != right.chars[first + k]) row = right.row_of(first + k);
    }
  };
  reader_.for_offsets(now.offsets.data(), offset_bits_, right.offsets.size(), compare_offsets);
  reader_.for_pieces(reinterpret_cast<const char*>(now.chars.data()), right.bytes(), compare_chars);
  return row;
}

}  // namespace lab
