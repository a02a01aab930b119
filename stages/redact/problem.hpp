// Two columns of strings, names ("First Last") and visibilities ("public" or something else), become one: a
// public row shows the first character of the last name, a space and the first name; any other row "X X".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/cuda.hpp"
#include "common/memory_resource.hpp"
#include "harness/device/strings.hpp"

namespace lab::redact {

struct input {
  strings names;
  strings visibilities;
  std::int64_t rows;
  int offset_bits;  // 32 (signed) or 64, for both inputs and the output
};

using output = column_output;

// An output row has at most this many bytes more than its name: "X X" for an empty one.
inline constexpr std::int64_t max_growth = 3;

// No output is longer, in bytes.
inline std::int64_t max_output_bytes(const input& in) {
  return in.names.bytes + max_growth * in.rows;
}

// A name and a visibility, or something of each of their columns.
template <class T>
using both = std::array<T, 2>;

struct problem {
  using input = redact::input;
  // Redacts on `stream`; allocates from the resource alone, and gives back all but the output.
  using launch_function = output (*)(const input&, memory_resource&, cudaStream_t);
  using parameters = column_parameters;

  static constexpr const char* title = "Redaction of names, as strings in columns";
  static constexpr const char* unit = "row";
  static constexpr both<const char*> input_columns = {"name", "visibility"};
  static constexpr const char* output_column = "redacted";

  static std::vector<parameter<parameters>> describe();
  static input bind_input(const parameters& p, const both<strings>& on_device) {
    return {on_device[0], on_device[1], p.rows, static_cast<int>(p.offsets)};
  }
  static both<column> generate(const parameters& p, std::uint64_t seed);
  static void append_output(std::string& text, const parameters& p, const both<std::string_view>& row);
  static std::int64_t max_output_bytes(const parameters& p, const both<std::int64_t>& bytes) {
    return bytes[0] + max_growth * p.rows;
  }
  static std::vector<column_case<parameters>> cases(std::int64_t tile, bool thorough, std::uint64_t seed);

  static constexpr auto column_hooks =
      column_hook::is_read | column_hook::estimate | column_hook::hidden_text;
  // Where no row is public, no name need be read.
  static bool is_read(const parameters& p, std::size_t k);
  static both<std::int64_t> estimate(const parameters& p);
  // What the column was made to hide: the name of a row that is not public.
  static std::string_view hidden_text(const both<std::string_view>& row);
};

}  // namespace lab::redact
