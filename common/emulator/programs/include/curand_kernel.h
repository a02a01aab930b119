// Random numbers in kernels under cuRAND's names. They are not cuRAND's numbers: every state is a generator
// of its own (splitmix64 for the seed, then xorshift64*), which has the same distributions.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

struct curandStateXORWOW {
  std::uint64_t bits;
  float boxmuller_extra;
  bool has_extra;
};
using curandStateXORWOW_t = curandStateXORWOW;
using curandState_t = curandStateXORWOW;
using curandState = curandStateXORWOW;
using curandStatePhilox4_32_10_t = curandStateXORWOW;
using curandStatePhilox4_32_10 = curandStateXORWOW;
using curandStateMRG32k3a = curandStateXORWOW;
using curandStateMRG32k3a_t = curandStateXORWOW;

inline void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                        curandState* state) {
  std::uint64_t mixed = seed * 0x9e3779b97f4a7c15u + sequence * 0xd1342543de82ef95u + 0x632be59bd9b4e019u;
  for (int round = 0; round < 2; ++round) {
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    mixed ^= mixed >> 31;
  }
  *state = {mixed != 0 ? mixed : 1, 0.0f, false};
  for (; offset > 0; --offset) state->bits ^= (state->bits ^= (state->bits ^= state->bits >> 12) << 25) >> 27;
}
inline unsigned curand(curandState* state) {
  state->bits ^= state->bits >> 12;
  state->bits ^= state->bits << 25;
  state->bits ^= state->bits >> 27;
  return static_cast<unsigned>(state->bits * 0x2545f4914f6cdd1du >> 32);
}
inline uint4 curand4(curandState* state) {
  const unsigned x = curand(state), y = curand(state), z = curand(state);
  return make_uint4(x, y, z, curand(state));
}
// From above 0 to 1, 1 included, as cuRAND's.
inline float curand_uniform(curandState* state) {
  return static_cast<float>((curand(state) >> 8) + 1) * 0x1p-24f;
}
inline double curand_uniform_double(curandState* state) {
  const std::uint64_t high = curand(state);
  return static_cast<double>(((high << 32 | curand(state)) >> 11) + 1) * 0x1p-53;
}
inline float4 curand_uniform4(curandState* state) {
  const float x = curand_uniform(state), y = curand_uniform(state), z = curand_uniform(state);
  return make_float4(x, y, z, curand_uniform(state));
}
// Box and Muller's two at a time.
inline float2 curand_normal2(curandState* state) {
  const float radius = sqrtf(-2.0f * logf(curand_uniform(state)));
  const float angle = 6.2831853071795864769f * curand_uniform(state);
  return make_float2(radius * cosf(angle), radius * sinf(angle));
}
inline float curand_normal(curandState* state) {
  if (state->has_extra) {
    state->has_extra = false;
    return state->boxmuller_extra;
  }
  const float2 pair = curand_normal2(state);
  state->boxmuller_extra = pair.y;
  state->has_extra = true;
  return pair.x;
}
inline float4 curand_normal4(curandState* state) {
  const float2 a = curand_normal2(state), b = curand_normal2(state);
  return make_float4(a.x, a.y, b.x, b.y);
}
inline double curand_normal_double(curandState* state) {
  const double radius = std::sqrt(-2.0 * std::log(curand_uniform_double(state)));
  return radius * std::cos(6.2831853071795864769 * curand_uniform_double(state));
}
inline float curand_log_normal(curandState* state, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(state));
}
// Knuth's product for small means, a rounded normal for large ones.
inline unsigned curand_poisson(curandState* state, double mean) {
  if (mean > 64.0) {
    const double value = std::floor(mean + std::sqrt(mean) * curand_normal_double(state) + 0.5);
    return value > 0.0 ? static_cast<unsigned>(value) : 0u;
  }
  const double limit = std::exp(-mean);
  unsigned count = 0;
  for (double product = curand_uniform_double(state); product > limit;
       product *= curand_uniform_double(state))
    ++count;
  return count;
}
inline void skipahead(unsigned long long count, curandState* state) {
  for (; count > 0; --count) curand(state);
}

#include <curand.h>  // as cuRAND's own does
