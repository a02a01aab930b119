// Operators of the vector types, as NVIDIA's samples have them in helper_math.h.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

inline float lerp(float a, float b, float t) {
  return a + t * (b - a);
}
inline float clamp(float value, float low, float high) {
  return fmaxf(low, fminf(value, high));
}
inline int clamp(int value, int low, int high) {
  return max(low, min(value, high));
}
inline unsigned clamp(unsigned value, unsigned low, unsigned high) {
  return max(low, min(value, high));
}

// PART(element, WHAT) for each element of a vector of 2, 3 or 4.
#define LAB_EACH2(PART, WHAT) PART(x, WHAT), PART(y, WHAT)
#define LAB_EACH3(PART, WHAT) LAB_EACH2(PART, WHAT), PART(z, WHAT)
#define LAB_EACH4(PART, WHAT) LAB_EACH3(PART, WHAT), PART(w, WHAT)

#define LAB_BOTH(E, OPERATOR) a.E OPERATOR b.E
#define LAB_LEFT(E, OPERATOR) a.E OPERATOR b
#define LAB_RIGHT(E, OPERATOR) a OPERATOR b.E
#define LAB_SIGNED(E, SIGN) SIGN a.E
#define LAB_ALL(E, VALUE) VALUE
#define LAB_OF(E, FUNCTION) FUNCTION(a.E)
#define LAB_OF_BOTH(E, FUNCTION) FUNCTION(a.E, b.E)
#define LAB_CLAMP(E, VALUE) clamp(VALUE.E, low, high)
#define LAB_CLAMP_EACH(E, VALUE) clamp(VALUE.E, low.E, high.E)
#define LAB_CAST(E, TYPE) static_cast<TYPE>(a.E)

#define LAB_DOT2 (a.x * b.x + a.y * b.y)
#define LAB_DOT3 (LAB_DOT2 + a.z * b.z)
#define LAB_DOT4 (LAB_DOT3 + a.w * b.w)

// Of a vector of N elements, whose names begin with NAME.
#define LAB_OPERATOR_OF_TWO(NAME, N, ELEMENT, OPERATOR)      \
  inline NAME##N operator OPERATOR(NAME##N a, NAME##N b) {   \
    return make_##NAME##N(LAB_EACH##N(LAB_BOTH, OPERATOR));  \
  }                                                          \
  inline void operator OPERATOR##=(NAME##N& a, NAME##N b) {  \
    a = a OPERATOR b;                                        \
  }                                                          \
  inline NAME##N operator OPERATOR(NAME##N a, ELEMENT b) {   \
    return make_##NAME##N(LAB_EACH##N(LAB_LEFT, OPERATOR));  \
  }                                                          \
  inline void operator OPERATOR##=(NAME##N& a, ELEMENT b) {  \
    a = a OPERATOR b;                                        \
  }                                                          \
  inline NAME##N operator OPERATOR(ELEMENT a, NAME##N b) {   \
    return make_##NAME##N(LAB_EACH##N(LAB_RIGHT, OPERATOR)); \
  }

#define LAB_VECTOR(NAME, N, ELEMENT, LEAST, MOST)           \
  LAB_OPERATOR_OF_TWO(NAME, N, ELEMENT, +)                  \
  LAB_OPERATOR_OF_TWO(NAME, N, ELEMENT, -)                  \
  LAB_OPERATOR_OF_TWO(NAME, N, ELEMENT, *)                  \
  inline NAME##N make_##NAME##N(ELEMENT a) {                \
    return make_##NAME##N(LAB_EACH##N(LAB_ALL, a));         \
  }                                                         \
  inline NAME##N LEAST(NAME##N a, NAME##N b) {              \
    return make_##NAME##N(LAB_EACH##N(LAB_OF_BOTH, LEAST)); \
  }                                                         \
  inline NAME##N MOST(NAME##N a, NAME##N b) {               \
    return make_##NAME##N(LAB_EACH##N(LAB_OF_BOTH, MOST));  \
  }                                                         \
  inline ELEMENT dot(NAME##N a, NAME##N b) {                \
    return LAB_DOT##N;                                      \
  }

#define LAB_SIGNED_VECTOR(NAME, N)                     \
  inline NAME##N operator-(NAME##N a) {                \
    return make_##NAME##N(LAB_EACH##N(LAB_SIGNED, -)); \
  }

#define LAB_FLOAT_VECTOR(N)                                            \
  LAB_VECTOR(float, N, float, fminf, fmaxf)                            \
  LAB_OPERATOR_OF_TWO(float, N, float, /)                              \
  LAB_SIGNED_VECTOR(float, N)                                          \
  inline float##N lerp(float##N a, float##N b, float t) {              \
    return a + t * (b - a);                                            \
  }                                                                    \
  inline float##N clamp(float##N value, float low, float high) {       \
    return make_float##N(LAB_EACH##N(LAB_CLAMP, value));               \
  }                                                                    \
  inline float##N clamp(float##N value, float##N low, float##N high) { \
    return make_float##N(LAB_EACH##N(LAB_CLAMP_EACH, value));          \
  }                                                                    \
  inline float length(float##N a) {                                    \
    return sqrtf(dot(a, a));                                           \
  }                                                                    \
  inline float##N normalize(float##N a) {                              \
    return a * (1.0f / sqrtf(dot(a, a)));                              \
  }                                                                    \
  inline float##N floorf(float##N a) {                                 \
    return make_float##N(LAB_EACH##N(LAB_OF, floorf));                 \
  }                                                                    \
  inline float##N fracf(float##N a) {                                  \
    return a - floorf(a);                                              \
  }                                                                    \
  inline float##N fabs(float##N a) {                                   \
    return make_float##N(LAB_EACH##N(LAB_OF, fabsf));                  \
  }                                                                    \
  inline float##N fmodf(float##N a, float##N b) {                      \
    return make_float##N(LAB_EACH##N(LAB_OF_BOTH, fmodf));             \
  }                                                                    \
  inline float##N reflect(float##N a, float##N normal) {               \
    return a - 2.0f * normal * dot(normal, a);                         \
  }

#define LAB_INTEGER_VECTOR(N)       \
  LAB_VECTOR(int, N, int, min, max) \
  LAB_SIGNED_VECTOR(int, N)         \
  LAB_VECTOR(uint, N, unsigned, min, max)

LAB_FLOAT_VECTOR(2)
LAB_FLOAT_VECTOR(3)
LAB_FLOAT_VECTOR(4)
LAB_INTEGER_VECTOR(2)
LAB_INTEGER_VECTOR(3)
LAB_INTEGER_VECTOR(4)

inline float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
inline float3 make_float3(float4 a) {
  return make_float3(a.x, a.y, a.z);
}
inline float3 make_float3(float2 a, float z = 0.0f) {
  return make_float3(a.x, a.y, z);
}
inline float4 make_float4(float3 a, float w = 0.0f) {
  return make_float4(a.x, a.y, a.z, w);
}
inline float2 make_float2(float3 a) {
  return make_float2(a.x, a.y);
}
inline float2 make_float2(int2 a) {
  return make_float2(LAB_EACH2(LAB_CAST, float));
}
inline int2 make_int2(float2 a) {
  return make_int2(LAB_EACH2(LAB_CAST, int));
}
inline int3 make_int3(float3 a) {
  return make_int3(LAB_EACH3(LAB_CAST, int));
}
inline float3 make_float3(int3 a) {
  return make_float3(LAB_EACH3(LAB_CAST, float));
}

inline float fracf(float a) {
  return a - floorf(a);
}
inline float smoothstep(float low, float high, float value) {
  const float part = clamp((value - low) / (high - low), 0.0f, 1.0f);
  return part * part * (3.0f - 2.0f * part);
}

#undef LAB_EACH2
#undef LAB_EACH3
#undef LAB_EACH4
#undef LAB_BOTH
#undef LAB_LEFT
#undef LAB_RIGHT
#undef LAB_SIGNED
#undef LAB_ALL
#undef LAB_OF
#undef LAB_OF_BOTH
#undef LAB_CLAMP
#undef LAB_CLAMP_EACH
#undef LAB_CAST
#undef LAB_DOT2
#undef LAB_DOT3
#undef LAB_DOT4
#undef LAB_OPERATOR_OF_TWO
#undef LAB_VECTOR
#undef LAB_SIGNED_VECTOR
#undef LAB_FLOAT_VECTOR
#undef LAB_INTEGER_VECTOR
