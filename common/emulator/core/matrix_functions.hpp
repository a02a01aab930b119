// What common/matrix_units.hpp is on the emulator: all 32 lanes of a warp meet, and the last one to come does
// the work of all (PTX ISA, "Warp-level matrix instructions"). Sums are made as matrix_arithmetic.hpp says.
#pragma once

#include "common/emulator/core/dialect.hpp"
#include "common/emulator/core/thread_functions.hpp"
#include "common/emulator/core/vector_types.hpp"

namespace lab::emulator {

enum class matrix_type { bf16, f16, tf32, s8, u8 };  // u8: of wmma alone

// A lane's fragments of mma.sync.
struct multiply_call {
  void* d;
  const unsigned* a;
  const unsigned* b;  // half as many registers
  const void* c;      // as d: 4 sums, or 2 pairs of half
  int a_registers = 4;
  bool half_sums = false;
};
void multiply_matrices(matrix_type type, const multiply_call& call, const char* name, place where);

// ldmatrix: the lanes' rows of 16 bytes become fragments, of `count` registers; and stmatrix back.
struct rows_call {
  unsigned* rows;  // of this lane: 4 registers
  unsigned* fragment;
};
void rows_to_fragments(const rows_call& call, int count, bool transposed, const char* name, place where);
void fragments_to_rows(const rows_call& call, int count, bool transposed, const char* name, place where);
// Fails unless it is 16 bytes of the block's shared memory.
void check_matrix_row(const void* row, const char* name, place where);

// All lanes of the warp must call it together.
void meet_as_warp(const char* name, place where);

template <int count, bool transposed>
__forceinline__ void load_matrix(unsigned (&fragment)[count], const void* row, const char* name,
                                 place where) {
  unsigned mine[4] = {};
  if (lane() < 8 * count) {
    check_matrix_row(row, name, where);
    const uint4 whole = *static_cast<const uint4*>(row);
    mine[0] = whole.x, mine[1] = whole.y, mine[2] = whole.z, mine[3] = whole.w;
  }
  rows_to_fragments({mine, fragment}, count, transposed, name, where);
}

template <int count, bool transposed>
__forceinline__ void store_matrix(void* row, const unsigned (&fragment)[count], const char* name,
                                  place where) {
  unsigned mine[4] = {}, copy[count];
  for (int k = 0; k < count; ++k) copy[k] = fragment[k];
  fragments_to_rows({mine, copy}, count, transposed, name, where);
  if (lane() >= 8 * count) return;
  check_matrix_row(row, name, where);
  *static_cast<uint4*>(row) = uint4(mine[0], mine[1], mine[2], mine[3]);
}

}  // namespace lab::emulator

namespace lab {

#define LAB_EMULATOR_MULTIPLY(name, type, sum)                                                          \
  __forceinline__ void name(sum(&d)[4], const unsigned(&a)[4], const unsigned(&b)[2], const sum(&c)[4], \
                            emulator::place where = emulator::place::here()) {                          \
    emulator::multiply_matrices(emulator::matrix_type::type, {d, a, b, c}, #name, where);               \
  }
LAB_EMULATOR_MULTIPLY(mma_bf16_m16n8k16, bf16, float)
LAB_EMULATOR_MULTIPLY(mma_f16_m16n8k16, f16, float)
LAB_EMULATOR_MULTIPLY(mma_tf32_m16n8k8, tf32, float)
LAB_EMULATOR_MULTIPLY(mma_s8_m16n8k32, s8, int)
#undef LAB_EMULATOR_MULTIPLY

#define LAB_EMULATOR_ROWS(suffix, count, transposed)                                            \
  __forceinline__ void load_matrix_##suffix(unsigned(&fragment)[count], const void* row,        \
                                            emulator::place where = emulator::place::here()) {  \
    emulator::load_matrix<count, transposed>(fragment, row, "load_matrix_" #suffix, where);     \
  }                                                                                             \
  __forceinline__ void store_matrix_##suffix(void* row, const unsigned(&fragment)[count],       \
                                             emulator::place where = emulator::place::here()) { \
    emulator::store_matrix<count, transposed>(row, fragment, "store_matrix_" #suffix, where);   \
  }
LAB_EMULATOR_ROWS(x1, 1, false)
LAB_EMULATOR_ROWS(x2, 2, false)
LAB_EMULATOR_ROWS(x4, 4, false)
LAB_EMULATOR_ROWS(x1_trans, 1, true)
LAB_EMULATOR_ROWS(x2_trans, 2, true)
LAB_EMULATOR_ROWS(x4_trans, 4, true)
#undef LAB_EMULATOR_ROWS

}  // namespace lab
