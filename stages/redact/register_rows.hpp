// Rows that a thread holds in registers: a name is read from shared memory once, as words, searched there,
// and written from there.
#pragma once

#include <cstdint>

#include "common/cuda.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/row.hpp"

namespace lab::redact {

// Characters of a first name that registers hold; the rest of a longer one is read again.
inline constexpr int register_characters = 12;

// The characters of a column of which a part is staged in shared memory, by their positions in the column.
// Positions are taken modulo 2^32, which is enough to tell those of one tile apart.
class staged_column {
 public:
  // Character `first`, a multiple of 16, is staged at `at`.
  __device__ __forceinline__ staged_column(const void* at, std::int64_t first)
#if LAB_EMULATED
      : at_(static_cast<const char*>(at)),
        first_(static_cast<unsigned>(first)){}
#else
      : address_(static_cast<unsigned>(__cvta_generic_to_shared(at)) - static_cast<unsigned>(first)) {
  }
#endif

        // The word in which character `position` is, `ahead` words further on.
        [[nodiscard]] __device__ __forceinline__ unsigned word(unsigned position, int ahead) const {
#if LAB_EMULATED
    return *reinterpret_cast<const unsigned*>(at_ +
                                              (static_cast<int>((position & ~3u) - first_) + 4 * ahead));
#else
    unsigned value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address_ + (position & ~3u) + 4 * ahead));
    return value;
#endif
  }

  // Below 0 for a byte of a character that has several.
  [[nodiscard]] __device__ __forceinline__ int character(unsigned position) const {
#if LAB_EMULATED
    return static_cast<signed char>(at_[static_cast<int>(position - first_)]);
#else
    int value;
    asm volatile("ld.shared.s8 %0, [%1];" : "=r"(value) : "r"(address_ + position));
    return value;
#endif
  }

 private:
#if LAB_EMULATED
  const char* at_;
  unsigned first_;
#else
  // Where character 0 would be: a load adds nothing but the position.
  unsigned address_;
#endif
};

// A row of the output: the initial, of which the first byte is here, a space, and the first name.
struct register_row {
  unsigned first[register_characters / 4];
  int first_bytes;
  int initial;
  int initial_bytes;

  [[nodiscard]] __device__ __forceinline__ int bytes() const { return initial_bytes + 1 + first_bytes; }
};

// Where a row lies in the two columns.
struct row_position {
  unsigned name_begin, name_end, visibility_begin, visibility_end;
};

template <class Offset>
__device__ __forceinline__ row_position position_of(const Offset* name_offsets,
                                                    const Offset* visibility_offsets, int row) {
  return {static_cast<unsigned>(name_offsets[row]), static_cast<unsigned>(name_offsets[row + 1]),
          static_cast<unsigned>(visibility_offsets[row]), static_cast<unsigned>(visibility_offsets[row + 1])};
}

__device__ __forceinline__ bool is_public(const staged_column& visibilities, const row_position& row) {
  constexpr unsigned publ = 'p' | 'u' << 8 | 'b' << 16 | 'l' << 24;
  constexpr unsigned ic = 'i' | 'c' << 8;
  const unsigned seen[3] = {visibilities.word(row.visibility_begin, 0),
                            visibilities.word(row.visibility_begin, 1),
                            visibilities.word(row.visibility_begin, 2)};
  const unsigned first = __funnelshift_r(seen[0], seen[1], 8 * row.visibility_begin);
  const unsigned second = __funnelshift_r(seen[1], seen[2], 8 * row.visibility_begin);
  return ((first ^ publ) | ((second ^ ic) & 0xffffu) | ((row.visibility_end - row.visibility_begin) ^ 6)) ==
         0;
}

// What a row becomes, if its first name fits into the registers and its initial is of one byte. Where that
// may not be so, `is_slow` becomes negative, and slow_row has the last word.
__device__ __forceinline__ register_row parse_row(const staged_column& names,
                                                  const staged_column& visibilities, const row_position& at,
                                                  int& is_slow) {
  register_row row;
  const unsigned raw[4] = {names.word(at.name_begin, 0), names.word(at.name_begin, 1),
                           names.word(at.name_begin, 2), names.word(at.name_begin, 3)};
#pragma unroll
  for (int k = 0; k < 3; ++k) row.first[k] = __funnelshift_r(raw[k], raw[k + 1], 8 * at.name_begin);
  unsigned flags = space_flags(row.first[0]);
  int base = 0;
  if (flags == 0) {
    flags = space_flags(row.first[1]);
    base = 4;
  }
  if (flags == 0) {
    flags = space_flags(row.first[2]);
    base = 8;
  }
  const int space = base + (__clz(static_cast<int>(__brev(flags))) >> 3);  // 12 when there is none
  const int length = static_cast<int>(at.name_end - at.name_begin);
  row.initial = names.character(at.name_begin + space + 1);
  is_slow |= row.initial | ((register_characters - 1 - space) & (register_characters - length));
  const bool shown = is_public(visibilities, at);
  row.first_bytes = space < length ? space : length;
  row.initial_bytes = space + 1 < length ? 1 : 0;
  if (!shown) {
    row.first[0] = 'X';
    row.first_bytes = 1;
    row.initial = 'X';
    row.initial_bytes = 1;
  }
  return row;
}

// The same, for any row.
__device__ __forceinline__ void parse_slow_row(const staged_column& names, const staged_column& visibilities,
                                               const row_position& at, register_row& row) {
  if (!is_public(visibilities, at)) return;
  unsigned space = at.name_begin + row.first_bytes;
  while (space != at.name_end && names.character(space) != ' ') ++space;
  row.first_bytes = static_cast<int>(space - at.name_begin);
  row.initial_bytes = 0;
  if (space == at.name_end || space + 1 == at.name_end) return;
  row.initial = names.character(space + 1);
  row.initial_bytes = character_bytes(static_cast<char>(row.initial));
}

// What the registers hold of a row.
__device__ __forceinline__ void write_row(char* to, const register_row& row) {
  if (row.initial_bytes > 0) *to = static_cast<char>(row.initial);
  to += row.initial_bytes;
  *to = ' ';
#pragma unroll
  for (int k = 0; k < register_characters; ++k) {
    if (k < row.first_bytes) to[1 + k] = static_cast<char>(row.first[k / 4] >> 8 * (k % 4));
  }
}

// And the rest of it.
__device__ __forceinline__ void write_slow_row(char* to, const staged_column& names, unsigned name_begin,
                                               const register_row& row) {
  for (int k = 1; k < row.initial_bytes; ++k)
    to[k] = static_cast<char>(names.character(name_begin + row.first_bytes + 1 + k));
  to += row.initial_bytes + 1;
  for (int k = register_characters; k < row.first_bytes; ++k)
    to[k] = static_cast<char>(names.character(name_begin + k));
}

// The sum over the lanes up to this one. A whole warp calls.
__device__ __forceinline__ unsigned warp_inclusive_sum(unsigned value) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
#if LAB_EMULATED
    const unsigned below = __shfl_up_sync(0xffffffffu, value, distance);
    if (static_cast<int>(threadIdx.x) % 32 >= distance) value += below;
#else
    // The shuffle says itself whether there is such a lane.
    asm volatile(
        "{\n.reg .pred is_there;\n.reg .u32 below;\n"
        "shfl.sync.up.b32 below|is_there, %0, %1, 0, 0xffffffff;\n@is_there add.u32 %0, %0, below;\n}"
        : "+r"(value)
        : "r"(distance));
#endif
  }
  return value;
}

// What each row of a lane becomes, and of how many bytes: 0 for one that the tile does not have. Below 0 is
// returned where one of them is slow. Row k of a lane is at `rows.position(k)` if the tile `rows.has(k)`; if
// it has not, the position is that of some other row.
template <int count, class Rows>
__device__ __forceinline__ int parse_rows(const staged_column& names, const staged_column& visibilities,
                                          const Rows& rows, register_row (&parsed)[count],
                                          int (&bytes)[count]) {
  int is_slow = 0;
#pragma unroll
  for (int k = 0; k < count; ++k) {
    parsed[k] = parse_row(names, visibilities, rows.position(k), is_slow);
    bytes[k] = rows.has(k) ? parsed[k].bytes() : 0;
  }
  if (is_slow < 0) {
#pragma unroll
    for (int k = 0; k < count; ++k) {
      if (!rows.has(k)) continue;
      parse_slow_row(names, visibilities, rows.position(k), parsed[k]);
      bytes[k] = parsed[k].bytes();
    }
  }
  return is_slow;
}

// The rest of a lane's slow rows, each at byte `at` of `to`, the output.
template <int count, class Rows>
__device__ __forceinline__ void write_slow_rows(char* to, const staged_column& names, const Rows& rows,
                                                const register_row (&parsed)[count], const int (&at)[count]) {
#pragma unroll
  for (int k = 0; k < count; ++k) {
    if (rows.has(k)) write_slow_row(to + at[k], names, rows.position(k).name_begin, parsed[k]);
  }
}

// The rows of a warp: row k of lane l is its row 32 * k + l. Of each row, its bytes become those of all rows
// before it; the sum of all is returned. A whole warp calls, and 32 rows have less than 2^16 bytes, so that
// the sums of two rows go in one register.
template <int count>
__device__ __forceinline__ int warp_exclusive_sums(int (&bytes)[count]) {
  int of_warp = 0;
#pragma unroll
  for (int k = 0; k < count; k += 2) {
    const unsigned both = bytes[k] | (k + 1 < count ? bytes[k + 1] << 16 : 0);
    const unsigned inclusive = warp_inclusive_sum(both);
    const unsigned sums = __shfl_sync(0xffffffffu, inclusive, 31);
    const unsigned before = inclusive - both;
    bytes[k] = of_warp + static_cast<int>(before & 0xffffu);
    of_warp += static_cast<int>(sums & 0xffffu);
    if (k + 1 < count) bytes[k + 1] = of_warp + static_cast<int>(before >> 16);
    of_warp += static_cast<int>(sums >> 16);
  }
  return of_warp;
}

// Of the warps' bytes, those of all warps before `warp` and those of all.
struct warp_sums {
  int before;
  int total;
};

template <int warps>
__device__ __forceinline__ warp_sums sum_over_warps(const int (&of_warp)[warps], int warp) {
  warp_sums sums{0, 0};
#pragma unroll
  for (int w = 0; w < warps; ++w) {
    const int of_one = of_warp[w];
    if (w < warp) sums.before += of_one;
    sums.total += of_one;
  }
  return sums;
}

}  // namespace lab::redact
