// What a problem of string columns declares; column_track.hpp makes a track of it. Any number N of input
// columns with as many rows each, one output column with a row for each of the input's. A small one to copy:
// tests/tracks/upper_case.
//
//   parameters         struct column_parameters (strings.hpp), or one derived from it
//   title, unit        for a person: of the track, and of one row
//   input_columns      static constexpr std::array<const char*, N>: their names in a CSV file
//   output_column      const char*: its name there
//   describe()         -> std::vector<parameter<parameters>>: column_parameter_list() below and its own
//   bind_input(p, on_device)
//                      std::array<strings, N>, each of p.rows rows with p.offsets bits an offset -> input,
//                      which stages are given
//   generate(p, seed)  -> std::array<column, N>, each of p.rows rows: a pure function of p.rows, p.content,
//                      the problem's own parameters and the seed
//   append_output(text, p, row)
//                      appends to the std::string what becomes of one row, std::array<std::string_view, N>:
//                      the reference, in the plainest code
//   max_output_bytes(p, bytes)
//                      -> std::int64_t: no output of inputs with so many bytes of characters,
//                      std::array<std::int64_t, N>, has more bytes of characters
//   cases(tile, thorough, seed)
//                      -> std::vector<column_case<parameters>>: what every stage, with `tile` rows for a
//                      block, is tried on; sizes drawn at random follow the seed
//
// Stages are handed `input`, a column_output with room for max_output_bytes() and a workspace, and neither
// allocate nor wait. A problem whose lesson is allocation says so with
//
//   launch_function    column_output (*)(const input&, memory_resource&, cudaStream_t): allocates from the
//                      resource alone, and gives back all but the output
//
// and has the parameter `allocator`. Where it matters, each named in `column_hooks` (strings.hpp):
//
//   is_read(p, k)      -> bool: whether input column k must be read at all, for the fewest bytes that must
//                      move
//   estimate(p)        -> std::array<std::int64_t, N>: about how many bytes of characters generate() makes,
//                      where few rows do not tell (sampled_bytes() in column_table.hpp)
//   hidden_text(row)   -> std::string_view: what of an input row must not be left behind the output either
//
// None of them throws, but for std::bad_alloc.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/device/column.hpp"
#include "harness/device/strings.hpp"

namespace lab {

template <class Problem>
inline constexpr std::size_t column_count = Problem::input_columns.size();
template <class Problem>
using input_columns = std::array<column, column_count<Problem>>;
template <class Problem>
using input_row = std::array<std::string_view, column_count<Problem>>;
template <class Problem>
using input_bytes = std::array<std::int64_t, column_count<Problem>>;

template <class Problem>
concept names_its_columns = requires {
  { Problem::title } -> std::convertible_to<std::string>;
  { Problem::unit } -> std::convertible_to<std::string>;
  { Problem::input_columns.size() } -> std::convertible_to<std::size_t>;
  { Problem::input_columns[0] } -> std::convertible_to<const char*>;
  { Problem::output_column } -> std::convertible_to<std::string>;
};

template <class Problem>
concept describes_its_parameters =
    std::derived_from<typename Problem::parameters, column_parameters> && requires {
  { Problem::describe() } -> std::same_as<std::vector<parameter<typename Problem::parameters>>>;
};

template <class Problem>
concept binds_its_input = requires(const typename Problem::parameters& p,
                                   const std::array<strings, column_count<Problem>>& on_device) {
  { Problem::bind_input(p, on_device) } -> std::same_as<typename Problem::input>;
};

template <class Problem>
concept generates_its_input = requires(const typename Problem::parameters& p, std::uint64_t seed) {
  { Problem::generate(p, seed) } -> std::same_as<input_columns<Problem>>;
};

template <class Problem>
concept defines_its_output = requires(const typename Problem::parameters& p, std::string& text,
                                      const input_row<Problem>& row, const input_bytes<Problem>& bytes) {
  Problem::append_output(text, p, row);
  { Problem::max_output_bytes(p, bytes) } -> std::same_as<std::int64_t>;
};

template <class Problem>
concept lists_its_cases = requires(std::int64_t tile, bool thorough, std::uint64_t seed) {
  {
    Problem::cases(tile, thorough, seed)
    } -> std::same_as<std::vector<column_case<typename Problem::parameters>>>;
};

template <class Problem>
concept column_problem =
    names_its_columns<Problem> && describes_its_parameters<Problem> && binds_its_input<Problem> &&
    generates_its_input<Problem> && defines_its_output<Problem> && lists_its_cases<Problem>;

// Whether stages make their output's memory themselves.
template <class Problem>
concept allocates_its_output = requires {
  typename Problem::launch_function;
};

// Whether the problem names this one.
template <class Problem, column_hook hook>
inline constexpr bool has_column_hook = false;
template <class Problem, column_hook hook>
requires requires {
  Problem::column_hooks;
}
inline constexpr bool has_column_hook<Problem, hook> =
    (static_cast<unsigned>(Problem::column_hooks) & static_cast<unsigned>(hook)) != 0;

// Whether it names those that it has: one that is misspelt would be missed by nobody.
template <class Problem>
constexpr bool names_its_column_hooks() {
  using parameters = typename Problem::parameters;
  constexpr bool is_read = requires(const parameters& p) {
    Problem::is_read(p, std::size_t{0});
  };
  constexpr bool estimate = requires(const parameters& p) {
    Problem::estimate(p);
  };
  constexpr bool hidden_text = requires(const input_row<Problem>& row) {
    Problem::hidden_text(row);
  };
  return is_read == has_column_hook<Problem, column_hook::is_read> &&
         estimate == has_column_hook<Problem, column_hook::estimate> &&
         hidden_text == has_column_hook<Problem, column_hook::hidden_text>;
}

// What column_parameter_list() needs to know.
struct column_parameter_defaults {
  std::vector<parameter_value> bench;           // rows on a GPU
  std::vector<parameter_value> emulator_bench;  // and on the emulator
  const char* content_meaning;
  std::vector<const char*> contents;  // the words for the contents 0, 1, ...
};

// `rows`, `content`, `allocator` (of a problem that allocates) and `offsets`.
template <class Problem>
std::vector<parameter<typename Problem::parameters>> column_parameter_list(
    const column_parameter_defaults& defaults) {
  using parameters = typename Problem::parameters;
  std::vector<choice> contents;
  for (const char* name : defaults.contents) contents.push_back({std::ssize(contents), name});
  std::vector<parameter<parameters>> list = {{.name = "rows",
                                              .member = &parameters::rows,
                                              .meaning = "rows",
                                              .bench = defaults.bench,
                                              .emulator_bench = defaults.emulator_bench},
                                             {.name = "content",
                                              .member = &parameters::content,
                                              .meaning = defaults.content_meaning,
                                              .bench = {0},
                                              .choices = std::move(contents)}};
  if constexpr (allocates_its_output<Problem>) {
    list.push_back({.name = "allocator",
                    .member = &parameters::allocator,
                    .meaning = "where memory comes from: cudaMalloc, the pool of cudaMallocAsync, or memory "
                               "that is there",
                    .bench = {"pool"},
                    .choices = {{0, "plain"}, {1, "pool"}, {2, "none"}}});
  }
  list.push_back({.name = "offsets",
                  .member = &parameters::offsets,
                  .meaning = "type of the offsets",
                  .bench = {"int32"},
                  .choices = {{32, "int32"}, {64, "int64"}}});
  return list;
}

}  // namespace lab
