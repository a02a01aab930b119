// Small ASCII letters become capitals; every other byte stays. The smallest track of string columns there is.
#pragma once

#include "harness/device/strings.hpp"

namespace lab::upper_case {

struct input {
  strings texts;
  std::int64_t rows;
  int offset_bits;
};

struct problem {
  using parameters = column_parameters;
  using input = upper_case::input;
  using output = column_output;

  static constexpr const char* title = "ASCII letters to upper case";
  static constexpr const char* unit = "row";
  static constexpr std::array<const char*, 1> input_columns = {"text"};
  static constexpr const char* output_column = "upper";

  static std::vector<parameter<parameters>> describe();
  static input bind_input(const parameters& p, const std::array<strings, 1>& on_device) {
    return {on_device[0], p.rows, static_cast<int>(p.offsets)};
  }
  static std::array<column, 1> generate(const parameters& p, std::uint64_t seed);
  static void append_output(std::string& text, const parameters& p,
                            const std::array<std::string_view, 1>& row);
  static std::int64_t max_output_bytes(const parameters& /*p*/, const std::array<std::int64_t, 1>& bytes) {
    return bytes[0];
  }
  static std::vector<column_case<parameters>> cases(std::int64_t tile, bool thorough, std::uint64_t seed);
};

}  // namespace lab::upper_case
