#include "harness/device/device_columns.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

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
  const auto narrow = converted<std::int32_t>(offsets);
  send(to, narrow.data(), narrow.size() * 4, stream);
  CUDA_CHECK(cudaStreamSynchronize(stream));
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

void device_columns::vary(std::span<const column> sent, std::uint64_t from, std::uint64_t to) {
  const guarded_buffer& chars = columns_[0].chars;
  const auto turn = [&](std::uint64_t now, std::uint64_t then) {
    vary_letters(reinterpret_cast<char*>(chars.data()), chars.size(), now, then, reader_.stream());
  };
  // How far a letter is turned follows from its position.
  turn(from, 0);
  const std::int64_t rows = sent[0].rows();
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
  std::uint64_t value = 0;
  for_buffers([&](const guarded_buffer& buffer) {
    // What is left of the last word is the end of a guard.
    const std::size_t words = guarded_buffer::needed_bytes(buffer.size()) / 8;
    const device_values all{element_type::int64, buffer.data() - guarded_buffer::guard_bytes,
                            static_cast<std::int64_t>(words)};
    value = random_bits(value, reader_.hash(all));
  });
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
  const std::int64_t size = right.offsets.size();
  const auto offsets = reader_.read_offsets(now.offsets.data(), offset_bits_, size);
  const std::int64_t row = first_difference(offsets.data(), right.offsets.data(), size);
  if (row < size) return row;
  const auto chars = reader_.read_array(reinterpret_cast<const char*>(now.chars.data()), right.bytes());
  const std::int64_t byte = first_difference(chars.data(), right.chars.data(), right.bytes());
  return byte < right.bytes() ? std::optional(right.row_of(byte)) : std::nullopt;
}

}  // namespace lab
