// The matrix units (tensor cores) of one warp: mma.sync, and ldmatrix and stmatrix, which carry fragments
// between registers and shared memory. PTX ISA, "Warp-level matrix instructions"; what a lane's registers
// hold is said there, too. <mma.h> has nvcuda::wmma. Compute capability 8.0, stores 9.0; on lower
// architectures the functions trap. The emulator's are in common/emulator/core/matrix_functions.hpp and
// wmma.hpp.
//
// All 32 lanes of a warp call each of these together.
#pragma once

#include "common/cuda.hpp"
#include "common/sm90.hpp"
#if LAB_EMULATED
#include "common/emulator/core/matrix_functions.hpp"
#include "common/emulator/core/wmma.hpp"
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#endif

#if defined(__CUDACC__) && !LAB_EMULATED

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define LAB_SM80(...) asm volatile(__VA_ARGS__)
#else
#define LAB_SM80(...) __trap()
#endif

namespace lab {

// D (16 x 8) = A (16 x K) B (K x 8) + C. A is row-major: a register holds neighbours in K, as in B, which is
// column-major. `d` may be `c`.
#define LAB_MULTIPLY(name, instruction, sum, letter)                                                         \
  __device__ __forceinline__ void name(sum(&d)[4], const unsigned(&a)[4], const unsigned(&b)[2],             \
                                       const sum(&c)[4]) {                                                   \
    LAB_SM80("mma.sync.aligned." instruction                                                                 \
             " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "                                               \
             "{%10, %11, %12, %13};"                                                                         \
             : "=" letter(d[0]), "=" letter(d[1]), "=" letter(d[2]), "=" letter(d[3])                        \
             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), letter(c[0]), letter(c[1]), \
               letter(c[2]), letter(c[3]));                                                                  \
  }
LAB_MULTIPLY(mma_bf16_m16n8k16, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
LAB_MULTIPLY(mma_f16_m16n8k16, "m16n8k16.row.col.f32.f16.f16.f32", float, "f")
LAB_MULTIPLY(mma_tf32_m16n8k8, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
LAB_MULTIPLY(mma_s8_m16n8k32, "m16n8k32.row.col.s32.s8.s8.s32", int, "r")
#undef LAB_MULTIPLY

// x1, x2 or x4 matrices of 8 rows of 16 bytes, a register each. Lane i names row i % 8 of matrix i / 8: 16
// bytes of shared memory at a multiple of 16. With `_trans` a matrix of 16-bit elements is transposed.
#define LAB_ROWS(suffix, kind)                                                                              \
  __device__ __forceinline__ void load_matrix_x1##suffix(unsigned(&d)[1], const void* row) {                \
    LAB_SM80("ldmatrix.sync.aligned.m8n8.x1" kind ".shared.b16 {%0}, [%1];"                                 \
             : "=r"(d[0])                                                                                   \
             : "r"(shared_address(row))                                                                     \
             : "memory");                                                                                   \
  }                                                                                                         \
  __device__ __forceinline__ void load_matrix_x2##suffix(unsigned(&d)[2], const void* row) {                \
    LAB_SM80("ldmatrix.sync.aligned.m8n8.x2" kind ".shared.b16 {%0, %1}, [%2];"                             \
             : "=r"(d[0]), "=r"(d[1])                                                                       \
             : "r"(shared_address(row))                                                                     \
             : "memory");                                                                                   \
  }                                                                                                         \
  __device__ __forceinline__ void load_matrix_x4##suffix(unsigned(&d)[4], const void* row) {                \
    LAB_SM80("ldmatrix.sync.aligned.m8n8.x4" kind ".shared.b16 {%0, %1, %2, %3}, [%4];"                     \
             : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                               \
             : "r"(shared_address(row))                                                                     \
             : "memory");                                                                                   \
  }                                                                                                         \
  __device__ __forceinline__ void store_matrix_x1##suffix(void* row, const unsigned(&s)[1]) {               \
    LAB_SM90("stmatrix.sync.aligned.m8n8.x1" kind ".shared.b16 [%0], {%1};" ::"r"(shared_address(row)),     \
             "r"(s[0])                                                                                      \
             : "memory");                                                                                   \
  }                                                                                                         \
  __device__ __forceinline__ void store_matrix_x2##suffix(void* row, const unsigned(&s)[2]) {               \
    LAB_SM90("stmatrix.sync.aligned.m8n8.x2" kind ".shared.b16 [%0], {%1, %2};" ::"r"(shared_address(row)), \
             "r"(s[0]), "r"(s[1])                                                                           \
             : "memory");                                                                                   \
  }                                                                                                         \
  __device__ __forceinline__ void store_matrix_x4##suffix(void* row, const unsigned(&s)[4]) {               \
    LAB_SM90("stmatrix.sync.aligned.m8n8.x4" kind                                                           \
             ".shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),                              \
             "r"(s[0]), "r"(s[1]), "r"(s[2]), "r"(s[3])                                                     \
             : "memory");                                                                                   \
  }
LAB_ROWS(, "")
LAB_ROWS(_trans, ".trans")
#undef LAB_ROWS

}  // namespace lab

#endif
