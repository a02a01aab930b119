// The input columns of one run with what must become of them, and the memory that they take.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/device/column_problem.hpp"
#include "harness/device/letters.hpp"
#include "harness/device/parameters.hpp"
#include "harness/protocol.hpp"

namespace lab {

// The columns with these names from a person's CSV file, as many rows of UTF-8 each; and a file of one
// column, written whole or not at all. Both throw file_error (common/csv.hpp).
std::vector<column> read_columns(const std::string& path, std::span<const char* const> names);
void write_column(const std::string& path, const std::string& name, const column& written);

template <class Problem>
struct column_table {
  input_columns<Problem> inputs;
  column expected;

  [[nodiscard]] std::int64_t rows() const { return expected.rows(); }
};

template <class Problem>
input_row<Problem> texts_of_row(const input_columns<Problem>& inputs, std::int64_t row) {
  input_row<Problem> texts;
  for (std::size_t k = 0; k < texts.size(); ++k) texts[k] = inputs[k][row];
  return texts;
}

template <class Problem>
input_bytes<Problem> bytes_of(const input_columns<Problem>& inputs) {
  input_bytes<Problem> bytes;
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = inputs[k].bytes();
  return bytes;
}

// The reference, row by row.
template <class Problem>
column expected_column(const typename Problem::parameters& p, const input_columns<Problem>& inputs) {
  return make_column(inputs[0].rows(), [&](std::string& text, std::int64_t row) {
    Problem::append_output(text, p, texts_of_row<Problem>(inputs, row));
  });
}

template <class Problem>
std::shared_ptr<const column_table<Problem>> make_table(const typename Problem::parameters& p,
                                                        input_columns<Problem> inputs) {
  auto table = std::make_shared<column_table<Problem>>();
  table->inputs = std::move(inputs);
  table->expected = expected_column<Problem>(p, table->inputs);
  return table;
}

// The parameters that inputs are made of.
template <class Problem>
parameter_values input_values(const typename Problem::parameters& p) {
  parameter_values values = values_of(Problem::describe(), p);
  values.erase("allocator");
  values.erase("offsets");
  return values;
}

// The column moved round as `variation` says, and with its letters turned if it is to be (letters.hpp).
inline column varied_copy(const column& from, std::uint64_t variation, bool is_turned) {
  const std::int64_t rows = from.rows();
  const std::int64_t first_row = first_row_of(variation, rows);
  column varied =
      make_column(rows, [&](auto& text, std::int64_t row) { text += from[(row + first_row) % rows]; });
  if (!is_turned) return varied;
  constexpr std::int64_t piece_words = std::int64_t{1} << 16;
  const std::int64_t words = (varied.bytes() + varied_bytes - 1) / varied_bytes;
  for_pieces_on_all_cores(words, piece_words, [&](std::int64_t first, std::int64_t end, unsigned) {
    for (std::int64_t word = first; word < end; ++word) {
      const int turn = turn_of(variation, word);
      char* const chars = varied.chars.data() + word * varied_bytes;
      const std::int64_t count = std::min(varied_bytes, varied.bytes() - word * varied_bytes);
      for (std::int64_t k = 0; k < count; ++k) chars[k] = turned(chars[k], turn);
    }
  });
  return varied;
}

// Generated inputs. The last two are kept: a proof takes several allocators through the same ones.
template <class Problem>
std::shared_ptr<const column_table<Problem>> generated_table(const typename Problem::parameters& p,
                                                             std::uint64_t seed) {
  struct kept_table {
    parameter_values from;
    std::uint64_t seed = 0;
    std::shared_ptr<const column_table<Problem>> table;
  };
  static std::array<kept_table, 2> kept;
  auto& [last, before] = kept;
  const parameter_values wanted = input_values<Problem>(p);
  const auto is_wanted = [&](const kept_table& one) { return one.from == wanted && one.seed == seed; };
  if (is_wanted(last)) return last.table;
  std::swap(last, before);
  if (!is_wanted(last)) {
    last = {};  // gives its memory back first
    last = {wanted, seed, make_table<Problem>(p, Problem::generate(p, seed))};
  }
  return last.table;
}

// Bytes of characters in p.rows rows, as the first 4096 have them. The last answer is kept: it is asked for
// twice, whether a trial can be made and then by who makes it.
template <class Problem>
input_bytes<Problem> sampled_bytes(const typename Problem::parameters& p) {
  constexpr std::int64_t max_rows = 4096;
  typename Problem::parameters few = p;
  few.rows = std::min(p.rows, max_rows);
  static parameter_values sampled;
  static input_bytes<Problem> sample;
  if (parameter_values wanted = input_values<Problem>(few); sampled != wanted) {
    sample = bytes_of<Problem>(Problem::generate(few, 1));
    sampled = std::move(wanted);
  }
  const double scale = static_cast<double>(p.rows) / static_cast<double>(std::max<std::int64_t>(1, few.rows));
  input_bytes<Problem> bytes = sample;
  for (std::int64_t& one : bytes) one = static_cast<std::int64_t>(static_cast<double>(one) * scale);
  return bytes;
}

template <class Problem>
input_bytes<Problem> estimated_bytes(const typename Problem::parameters& p) {
  if constexpr (has_column_hook<Problem, column_hook::estimate>) {
    return Problem::estimate(p);
  } else {
    return sampled_bytes<Problem>(p);
  }
}

// The bits of an offset that reach so many bytes of characters: 32 or 64.
inline int offset_bits_for(std::int64_t bytes) {
  return bytes <= std::numeric_limits<std::int32_t>::max() ? 32 : 64;
}

// Of p.rows rows.
inline std::int64_t offset_bytes(const column_parameters& p) {
  return (p.rows + 1) * p.offsets / 8;
}

// The most bytes of characters that one of the columns may have, in or out.
template <class Problem>
std::int64_t longest_column(const typename Problem::parameters& p, const input_bytes<Problem>& bytes) {
  return std::max(Problem::max_output_bytes(p, bytes), *std::max_element(bytes.begin(), bytes.end()));
}

// Device memory for the inputs, and twice for an output as long as it may get: a stage's temporaries are its
// own affair.
template <class Problem>
std::size_t needed_bytes(const typename Problem::parameters& p, const input_bytes<Problem>& bytes) {
  std::int64_t needed = 2 * (offset_bytes(p) + Problem::max_output_bytes(p, bytes));
  for (const std::int64_t of_input : bytes) needed += offset_bytes(p) + of_input;
  return static_cast<std::size_t>(needed);
}

}  // namespace lab
