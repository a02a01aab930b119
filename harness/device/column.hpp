// A column of strings in the host's memory, and the way to make a long one: on all cores.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/all_cores.hpp"
#include "common/random.hpp"
#include "harness/device/host_array.hpp"

namespace lab {

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

// Random bits in any number, from one row's own position in the sequence.
class row_bits {
 public:
  row_bits(std::uint64_t seed, std::int64_t row)
      : seed_(seed), next_(static_cast<std::uint64_t>(row) << 24) {}

  // Evenly from [0, count), as far as 2^64 is large.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(all() % static_cast<std::uint64_t>(count));
  }
  std::uint64_t all() { return random_bits(seed_, next_++); }
  // What so many calls of all() would have taken.
  void skip(std::int64_t calls) { next_ += static_cast<std::uint64_t>(calls); }

 private:
  std::uint64_t seed_;
  std::uint64_t next_;
};

// A text of which nothing is kept but its length.
class text_length {
 public:
  [[nodiscard]] std::int64_t size() const { return size_; }
  void skip(std::int64_t bytes) { size_ += bytes; }
  text_length& operator+=(char /*byte*/) {
    ++size_;
    return *this;
  }
  text_length& operator+=(std::string_view more) {
    size_ += std::ssize(more);
    return *this;
  }

 private:
  std::int64_t size_ = 0;
};

// A text in memory that is there, as long as it must become. Ends the process when it would become longer.
class text_in_place {
 public:
  text_in_place(char* chars, std::int64_t size) : chars_(chars), room_(size) {}

  [[nodiscard]] std::int64_t size() const { return size_; }
  char& operator[](std::int64_t byte) { return chars_[byte]; }
  // Where the next `bytes` are to be written.
  char* take(std::int64_t bytes) {
    if (bytes > room_ - size_) std::terminate();
    return chars_ + std::exchange(size_, size_ + bytes);
  }
  text_in_place& operator+=(char byte) {
    *take(1) = byte;
    return *this;
  }
  text_in_place& operator+=(std::string_view more) {
    std::copy(more.begin(), more.end(), take(std::ssize(more)));
    return *this;
  }

 private:
  char* chars_;
  std::int64_t room_;
  std::int64_t size_ = 0;
};

// The column whose row i is what append(text, i) appends to the text. It is asked twice, for the text's
// length and then for the text, and must say the same both times: so none of the column is written before its
// place is known. Memory that the system must find first costs more than text made again. An append that
// takes any text is asked for the length with a text_length, and writes to a text_in_place; to any other the
// text is a std::string, and of few rows the first one is taken.
template <class Append>
column make_column(std::int64_t rows, const Append& append) {
  constexpr bool in_place = std::invocable<const Append&, text_in_place&, std::int64_t>;
  constexpr std::int64_t piece_rows = 1 << 14;
  const std::int64_t pieces = (rows + piece_rows - 1) / piece_rows;
  column result{.offsets = host_array<std::int64_t>(rows + 1)};
  std::vector<std::string> texts(threads_for(rows, piece_rows));
  std::vector<std::int64_t> begins(static_cast<std::size_t>(pieces) + 1);
  for_pieces_on_all_cores(rows, piece_rows, [&](std::int64_t first, std::int64_t end, unsigned thread) {
    const auto measure = [&](auto& text) {
      for (std::int64_t row = first; row < end; ++row) {
        append(text, row);
        result.offsets[row + 1] = static_cast<std::int64_t>(text.size());
      }
      begins[static_cast<std::size_t>(first / piece_rows) + 1] = static_cast<std::int64_t>(text.size());
    };
    if constexpr (in_place) {
      text_length length;
      measure(length);
    } else {
      texts[thread].clear();
      measure(texts[thread]);
    }
  });
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  result.offsets[0] = 0;
  result.chars = host_array<char>(begins.back());
  for_pieces_on_all_cores(rows, piece_rows, [&](std::int64_t first, std::int64_t end, unsigned thread) {
    const std::int64_t begin = begins[static_cast<std::size_t>(first / piece_rows)];
    const std::int64_t size = begins[static_cast<std::size_t>(first / piece_rows) + 1] - begin;
    const auto write = [&](auto& text) {
      for (std::int64_t row = first; row < end; ++row) append(text, row);
      if (static_cast<std::int64_t>(text.size()) != size) std::terminate();  // another text than before
    };
    if constexpr (in_place) {
      text_in_place text(result.chars.data() + begin, size);
      write(text);
    } else {
      std::string& text = texts[thread];
      if (pieces > 1) {
        text.clear();
        write(text);
      }
      std::memcpy(result.chars.data() + begin, text.data(), text.size());
    }
    for (std::int64_t row = first; row < end; ++row) result.offsets[row + 1] += begin;
  });
  return result;
}

}  // namespace lab
