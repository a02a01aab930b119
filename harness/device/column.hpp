// A column of strings in the host's memory, and the way to make a long one: on all cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "common/all_cores.hpp"
#include "common/random.hpp"

namespace lab {

// `size` values of T, uninitialised: whoever fills them first, in parallel, is given their pages.
template <class T>
class host_array {
 public:
  host_array() = default;
  explicit host_array(std::int64_t size)
      : values_(std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(size))), size_(size) {}

  [[nodiscard]] T* data() const { return values_.get(); }
  [[nodiscard]] std::int64_t size() const { return size_; }
  T& operator[](std::int64_t index) { return values_[static_cast<std::size_t>(index)]; }
  const T& operator[](std::int64_t index) const { return values_[static_cast<std::size_t>(index)]; }

 private:
  std::unique_ptr<T[]> values_;
  std::int64_t size_ = 0;
};

// Row i is chars[offsets[i]] up to chars[offsets[i + 1]]. 64-bit offsets, whatever a stage is given.
struct column {
  host_array<std::int64_t> offsets;
  host_array<char> chars;

  [[nodiscard]] std::int64_t rows() const { return offsets.size() - 1; }
  [[nodiscard]] std::int64_t bytes() const { return offsets[rows()]; }
  [[nodiscard]] std::string_view operator[](std::int64_t row) const {
    return {chars.data() + offsets[row], static_cast<std::size_t>(offsets[row + 1] - offsets[row])};
  }
  // The row that holds a character.
  [[nodiscard]] std::int64_t row_of(std::int64_t character) const {
    return std::upper_bound(offsets.data(), offsets.data() + offsets.size(), character) - offsets.data() - 1;
  }
};

// Random bits in any number, from one row's own place in the sequence.
class row_bits {
 public:
  row_bits(std::uint64_t seed, std::int64_t row)
      : seed_(seed), next_(static_cast<std::uint64_t>(row) << 24) {}

  // Evenly from [0, count), as far as 2^64 is large.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(all() % static_cast<std::uint64_t>(count));
  }
  std::uint64_t all() { return random_bits(seed_, next_++); }

 private:
  std::uint64_t seed_;
  std::uint64_t next_;
};

// The column whose row i is what append(text, i) appends to the text. It is asked twice, for the text's
// length and then for the text, and must say the same both times: so each core needs memory for a piece
// alone, and none of the column is written before its place is known. Memory that the system must find first
// costs more than text made again.
template <class Append>
column make_column(std::int64_t rows, const Append& append) {
  constexpr std::int64_t piece_rows = 1 << 15;
  column made{.offsets = host_array<std::int64_t>(rows + 1)};
  std::vector<std::string> texts(threads_for(rows, piece_rows));
  std::vector<std::int64_t> begins(static_cast<std::size_t>((rows + piece_rows - 1) / piece_rows) + 1);
  for_pieces_on_all_cores(rows, piece_rows, [&](std::int64_t first, std::int64_t end, unsigned thread) {
    std::string& text = texts[thread];
    text.clear();
    for (std::int64_t row = first; row < end; ++row) {
      append(text, row);
      made.offsets[row + 1] = static_cast<std::int64_t>(text.size());
    }
    begins[static_cast<std::size_t>(first / piece_rows) + 1] = static_cast<std::int64_t>(text.size());
  });
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  made.offsets[0] = 0;
  made.chars = host_array<char>(begins.back());
  for_pieces_on_all_cores(rows, piece_rows, [&](std::int64_t first, std::int64_t end, unsigned thread) {
    std::string& text = texts[thread];
    text.clear();
    const std::int64_t begin = begins[static_cast<std::size_t>(first / piece_rows)];
    for (std::int64_t row = first; row < end; ++row) {
      append(text, row);
      made.offsets[row + 1] += begin;
    }
    if (begin + std::ssize(text) != begins[static_cast<std::size_t>(first / piece_rows) + 1])
      std::terminate();  // another text than before
    std::memcpy(made.chars.data() + begin, text.data(), text.size());
  });
  return made;
}

}  // namespace lab
