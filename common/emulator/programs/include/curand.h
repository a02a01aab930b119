// cuRAND's generators for the host: arrays of numbers with the same distributions, and not the same numbers.
#pragma once

#define CURAND_H_

#include <curand_kernel.h>

#include <vector>

enum curandStatus_t : int {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999,
};
using curandStatus = curandStatus_t;
enum curandRngType_t : int {
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
};
enum curandOrdering_t : int {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
};
using curandOrdering = curandOrdering_t;
using curandGenerator_t = curandState*;

inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t) {
  *generator = new curandState;
  curand_init(0, 0, 0, *generator);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return curandCreateGenerator(generator, type);
}
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                         unsigned long long seed) {
  curand_init(seed, 0, 0, generator);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  skipahead(offset, generator);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t) {
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t) {
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
namespace lab_samples {
template <class T, class Draw>
curandStatus_t fill(T* to, std::size_t count, Draw draw) {
  std::vector<T> values(count);
  for (T& value : values) value = draw();
  const bool done = cudaMemcpy(to, values.data(), count * sizeof(T), cudaMemcpyDefault) == cudaSuccess;
  return done ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}
}  // namespace lab_samples
inline curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* to, std::size_t count) {
  return lab_samples::fill(to, count, [&] { return curand(generator); });
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* to, std::size_t count) {
  return lab_samples::fill(to, count, [&] { return curand_uniform(generator); });
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* to,
                                                  std::size_t count) {
  return lab_samples::fill(to, count, [&] { return curand_uniform_double(generator); });
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* to, std::size_t count,
                                                 double mean, double deviation) {
  return lab_samples::fill(to, count, [&] { return mean + deviation * curand_normal_double(generator); });
}
inline curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* to, std::size_t count,
                                              float mean, float deviation) {
  return lab_samples::fill(to, count, [&] { return curand_log_normal(generator, mean, deviation); });
}
inline curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned* to, std::size_t count,
                                            double mean) {
  return lab_samples::fill(to, count, [&] { return curand_poisson(generator, mean); });
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* to, std::size_t count,
                                           float mean, float deviation) {
  return lab_samples::fill(to, count, [&] { return mean + deviation * curand_normal(generator); });
}
