// Two columns of strings, names ("First Last") and visibilities ("public" or something else), become one: a
// public row shows the first character of the last name, a space and the first name; any other row "X X".
#pragma once

#include <cstdint>

#include "common/cuda.hpp"
#include "common/memory_resource.hpp"
#include "harness/device/stage.hpp"

namespace lab::redact {

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

struct input {
  strings names;
  strings visibilities;
  std::int64_t rows;
  int offset_bits;  // 32 (signed) or 64, for both inputs and the output
};

// What a launch leaves behind: memory from the resource it was given, which the caller gives back. Behind the
// last row's characters no byte is written: the allocation may be larger than the column.
struct output {
  void* offsets;  // (rows + 1) * offset_bits / 8 bytes
  char* chars;    // nullptr when chars_capacity is 0
  std::int64_t chars_capacity;
};

struct problem {
  using input = redact::input;
  using output = redact::output;
  // Redacts on `stream`; allocates from the resource alone, and gives back all but the output.
  using launch_function = output (*)(const input&, memory_resource&, cudaStream_t);

  struct parameters {
    std::int64_t rows = 0;
    std::int64_t content = 0;
    std::int64_t allocator = 0;
    std::int64_t offsets = 32;
  };
};

// An output row has at most this many bytes more than its name: "X X" for an empty one.
inline constexpr std::int64_t most_growth = 3;

// No output is longer, in bytes.
inline std::int64_t most_output_bytes(const input& in) {
  return in.names.bytes + most_growth * in.rows;
}

// Calls visit.operator()<Offset>() with the type of the offsets.
template <class Visit>
auto with_offsets(const input& in, const Visit& visit) {
  return in.offset_bits == 32 ? visit.template operator()<std::int32_t>()
                              : visit.template operator()<std::int64_t>();
}

}  // namespace lab::redact
