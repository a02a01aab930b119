// Columns of strings as a stage sees them: in device memory, offsets and characters apart. How a track of
// them is described: column_problem.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/cuda.hpp"
#include "common/memory_resource.hpp"
#include "harness/device/parameter.hpp"
#include "harness/device/stage.hpp"

namespace lab {

// What a problem of columns may have beside what it must (column_problem.hpp). It names those that it has:
//   static constexpr auto column_hooks = column_hook::is_read | column_hook::estimate;
enum class column_hook : unsigned { is_read = 1, estimate = 2, hidden_text = 4 };
constexpr column_hook operator|(column_hook a, column_hook b) {
  return static_cast<column_hook>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

struct column;  // in the host's memory (column.hpp)

// The values of the parameter `allocator`: where a stage's memory comes from.
enum class allocator : std::int64_t { plain, pool, none };

// Strings one behind the other, as Apache Arrow lays them out: row i is chars[offsets[i]] up to
// chars[offsets[i + 1]], UTF-8. offsets[0] is 0. In device memory, aligned to 256 bytes; nothing else may be
// assumed of the addresses behind the last character or the last offset.
struct strings {
  const void* offsets;  // rows + 1 of them
  const char* chars;
  std::int64_t bytes;  // of the characters: the last offset, known to the host
};

// A launch's output column. A stage that allocates leaves it behind, in memory from the resource that it was
// given, which the harness gives back; any other is handed it. Behind the last row's characters no byte is
// written: the allocation may be larger than the column.
struct column_output {
  void* offsets;  // (rows + 1) * offset_bits / 8 bytes
  char* chars;    // nullptr when chars_capacity is 0
  std::int64_t chars_capacity;
};

// What every track of columns has for parameters; a problem may add its own in a derived class.
struct column_parameters {
  std::int64_t rows = 0;
  std::int64_t content = 0;  // which of the problem's contents
  std::int64_t allocator = static_cast<std::int64_t>(lab::allocator::none);
  std::int64_t offsets = 32;  // bits of one, in inputs and output: 32 (signed) or 64
};

// One input that a stage must get right.
template <class Parameters>
struct column_case {
  Parameters parameters;
  bool brief = false;  // one of many sizes: a single launch will do
};

// Calls visit.operator()<Offset>() with the type of the offsets of `in.offset_bits`.
template <class Input, class Visit>
auto with_offsets(const Input& in, const Visit& visit) {
  return in.offset_bits == 32 ? visit.template operator()<std::int32_t>()
                              : visit.template operator()<std::int64_t>();
}

}  // namespace lab
