// CUDA's complex numbers of C, which cuBLAS and cuFFT take.
#pragma once

#define CU_COMPLEX_H_

#include <cuda_runtime.h>

#include <cmath>

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

#define LAB_EMULATOR_COMPLEX(suffix, complex, real)                                    \
  inline complex make_##complex(real x, real y) {                                      \
    return {x, y};                                                                     \
  }                                                                                    \
  inline real cuCreal##suffix(complex a) {                                             \
    return a.x;                                                                        \
  }                                                                                    \
  inline real cuCimag##suffix(complex a) {                                             \
    return a.y;                                                                        \
  }                                                                                    \
  inline complex cuConj##suffix(complex a) {                                           \
    return {a.x, -a.y};                                                                \
  }                                                                                    \
  inline complex cuCadd##suffix(complex a, complex b) {                                \
    return {a.x + b.x, a.y + b.y};                                                     \
  }                                                                                    \
  inline complex cuCsub##suffix(complex a, complex b) {                                \
    return {a.x - b.x, a.y - b.y};                                                     \
  }                                                                                    \
  inline complex cuCmul##suffix(complex a, complex b) {                                \
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                             \
  }                                                                                    \
  /* Scaled, so that nothing overflows in between. */                                  \
  inline complex cuCdiv##suffix(complex a, complex b) {                                \
    const real scale = real{1} / (std::fabs(b.x) + std::fabs(b.y));                    \
    const real ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale; \
    const real square = real{1} / (bx * bx + by * by);                                 \
    return {(ax * bx + ay * by) * square, (ay * bx - ax * by) * square};               \
  }                                                                                    \
  inline real cuCabs##suffix(complex a) {                                              \
    return std::hypot(a.x, a.y);                                                       \
  }                                                                                    \
  inline complex cuCfma##suffix(complex a, complex b, complex c) {                     \
    return {a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x};                 \
  }
LAB_EMULATOR_COMPLEX(f, cuFloatComplex, float)
LAB_EMULATOR_COMPLEX(, cuDoubleComplex, double)
#undef LAB_EMULATOR_COMPLEX

inline cuComplex make_cuComplex(float x, float y) {
  return {x, y};
}
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) {
  return make_double2(a.x, a.y);
}
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return make_float2(static_cast<float>(a.x), static_cast<float>(a.y));
}
