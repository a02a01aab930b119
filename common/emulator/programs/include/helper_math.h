// Operators of the vector types, as NVIDIA's samples have them in helper_math.h.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

inline float2 operator+(float2 a, float2 b) {
  return make_float2(a.x + b.x, a.y + b.y);
}
inline void operator+=(float2& a, float2 b) {
  a = a + b;
}
inline float2 operator+(float2 a, float b) {
  return make_float2(a.x + b, a.y + b);
}
inline void operator+=(float2& a, float b) {
  a = a + b;
}
inline float2 operator+(float a, float2 b) {
  return make_float2(a + b.x, a + b.y);
}
inline float2 operator-(float2 a, float2 b) {
  return make_float2(a.x - b.x, a.y - b.y);
}
inline void operator-=(float2& a, float2 b) {
  a = a - b;
}
inline float2 operator-(float2 a, float b) {
  return make_float2(a.x - b, a.y - b);
}
inline void operator-=(float2& a, float b) {
  a = a - b;
}
inline float2 operator-(float a, float2 b) {
  return make_float2(a - b.x, a - b.y);
}
inline float2 operator*(float2 a, float2 b) {
  return make_float2(a.x * b.x, a.y * b.y);
}
inline void operator*=(float2& a, float2 b) {
  a = a * b;
}
inline float2 operator*(float2 a, float b) {
  return make_float2(a.x * b, a.y * b);
}
inline void operator*=(float2& a, float b) {
  a = a * b;
}
inline float2 operator*(float a, float2 b) {
  return make_float2(a * b.x, a * b.y);
}
inline float2 operator/(float2 a, float2 b) {
  return make_float2(a.x / b.x, a.y / b.y);
}
inline void operator/=(float2& a, float2 b) {
  a = a / b;
}
inline float2 operator/(float2 a, float b) {
  return make_float2(a.x / b, a.y / b);
}
inline void operator/=(float2& a, float b) {
  a = a / b;
}
inline float2 operator/(float a, float2 b) {
  return make_float2(a / b.x, a / b.y);
}
inline float2 operator-(float2 a) {
  return make_float2(-a.x, -a.y);
}
inline float2 make_float2(float a) {
  return make_float2(a, a);
}
inline float2 fminf(float2 a, float2 b) {
  return make_float2(fminf(a.x, b.x), fminf(a.y, b.y));
}
inline float2 fmaxf(float2 a, float2 b) {
  return make_float2(fmaxf(a.x, b.x), fmaxf(a.y, b.y));
}
inline float dot(float2 a, float2 b) {
  return a.x * b.x + a.y * b.y;
}

inline float3 operator+(float3 a, float3 b) {
  return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
inline void operator+=(float3& a, float3 b) {
  a = a + b;
}
inline float3 operator+(float3 a, float b) {
  return make_float3(a.x + b, a.y + b, a.z + b);
}
inline void operator+=(float3& a, float b) {
  a = a + b;
}
inline float3 operator+(float a, float3 b) {
  return make_float3(a + b.x, a + b.y, a + b.z);
}
inline float3 operator-(float3 a, float3 b) {
  return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}
inline void operator-=(float3& a, float3 b) {
  a = a - b;
}
inline float3 operator-(float3 a, float b) {
  return make_float3(a.x - b, a.y - b, a.z - b);
}
inline void operator-=(float3& a, float b) {
  a = a - b;
}
inline float3 operator-(float a, float3 b) {
  return make_float3(a - b.x, a - b.y, a - b.z);
}
inline float3 operator*(float3 a, float3 b) {
  return make_float3(a.x * b.x, a.y * b.y, a.z * b.z);
}
inline void operator*=(float3& a, float3 b) {
  a = a * b;
}
inline float3 operator*(float3 a, float b) {
  return make_float3(a.x * b, a.y * b, a.z * b);
}
inline void operator*=(float3& a, float b) {
  a = a * b;
}
inline float3 operator*(float a, float3 b) {
  return make_float3(a * b.x, a * b.y, a * b.z);
}
inline float3 operator/(float3 a, float3 b) {
  return make_float3(a.x / b.x, a.y / b.y, a.z / b.z);
}
inline void operator/=(float3& a, float3 b) {
  a = a / b;
}
inline float3 operator/(float3 a, float b) {
  return make_float3(a.x / b, a.y / b, a.z / b);
}
inline void operator/=(float3& a, float b) {
  a = a / b;
}
inline float3 operator/(float a, float3 b) {
  return make_float3(a / b.x, a / b.y, a / b.z);
}
inline float3 operator-(float3 a) {
  return make_float3(-a.x, -a.y, -a.z);
}
inline float3 make_float3(float a) {
  return make_float3(a, a, a);
}
inline float3 fminf(float3 a, float3 b) {
  return make_float3(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z));
}
inline float3 fmaxf(float3 a, float3 b) {
  return make_float3(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z));
}
inline float dot(float3 a, float3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

inline float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
inline void operator+=(float4& a, float4 b) {
  a = a + b;
}
inline float4 operator+(float4 a, float b) {
  return make_float4(a.x + b, a.y + b, a.z + b, a.w + b);
}
inline void operator+=(float4& a, float b) {
  a = a + b;
}
inline float4 operator+(float a, float4 b) {
  return make_float4(a + b.x, a + b.y, a + b.z, a + b.w);
}
inline float4 operator-(float4 a, float4 b) {
  return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}
inline void operator-=(float4& a, float4 b) {
  a = a - b;
}
inline float4 operator-(float4 a, float b) {
  return make_float4(a.x - b, a.y - b, a.z - b, a.w - b);
}
inline void operator-=(float4& a, float b) {
  a = a - b;
}
inline float4 operator-(float a, float4 b) {
  return make_float4(a - b.x, a - b.y, a - b.z, a - b.w);
}
inline float4 operator*(float4 a, float4 b) {
  return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}
inline void operator*=(float4& a, float4 b) {
  a = a * b;
}
inline float4 operator*(float4 a, float b) {
  return make_float4(a.x * b, a.y * b, a.z * b, a.w * b);
}
inline void operator*=(float4& a, float b) {
  a = a * b;
}
inline float4 operator*(float a, float4 b) {
  return make_float4(a * b.x, a * b.y, a * b.z, a * b.w);
}
inline float4 operator/(float4 a, float4 b) {
  return make_float4(a.x / b.x, a.y / b.y, a.z / b.z, a.w / b.w);
}
inline void operator/=(float4& a, float4 b) {
  a = a / b;
}
inline float4 operator/(float4 a, float b) {
  return make_float4(a.x / b, a.y / b, a.z / b, a.w / b);
}
inline void operator/=(float4& a, float b) {
  a = a / b;
}
inline float4 operator/(float a, float4 b) {
  return make_float4(a / b.x, a / b.y, a / b.z, a / b.w);
}
inline float4 operator-(float4 a) {
  return make_float4(-a.x, -a.y, -a.z, -a.w);
}
inline float4 make_float4(float a) {
  return make_float4(a, a, a, a);
}
inline float4 fminf(float4 a, float4 b) {
  return make_float4(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z), fminf(a.w, b.w));
}
inline float4 fmaxf(float4 a, float4 b) {
  return make_float4(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z), fmaxf(a.w, b.w));
}
inline float dot(float4 a, float4 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

inline int2 operator+(int2 a, int2 b) {
  return make_int2(a.x + b.x, a.y + b.y);
}
inline void operator+=(int2& a, int2 b) {
  a = a + b;
}
inline int2 operator+(int2 a, int b) {
  return make_int2(a.x + b, a.y + b);
}
inline void operator+=(int2& a, int b) {
  a = a + b;
}
inline int2 operator+(int a, int2 b) {
  return make_int2(a + b.x, a + b.y);
}
inline int2 operator-(int2 a, int2 b) {
  return make_int2(a.x - b.x, a.y - b.y);
}
inline void operator-=(int2& a, int2 b) {
  a = a - b;
}
inline int2 operator-(int2 a, int b) {
  return make_int2(a.x - b, a.y - b);
}
inline void operator-=(int2& a, int b) {
  a = a - b;
}
inline int2 operator-(int a, int2 b) {
  return make_int2(a - b.x, a - b.y);
}
inline int2 operator*(int2 a, int2 b) {
  return make_int2(a.x * b.x, a.y * b.y);
}
inline void operator*=(int2& a, int2 b) {
  a = a * b;
}
inline int2 operator*(int2 a, int b) {
  return make_int2(a.x * b, a.y * b);
}
inline void operator*=(int2& a, int b) {
  a = a * b;
}
inline int2 operator*(int a, int2 b) {
  return make_int2(a * b.x, a * b.y);
}
inline int2 operator-(int2 a) {
  return make_int2(-a.x, -a.y);
}
inline int2 make_int2(int a) {
  return make_int2(a, a);
}
inline int2 min(int2 a, int2 b) {
  return make_int2(min(a.x, b.x), min(a.y, b.y));
}
inline int2 max(int2 a, int2 b) {
  return make_int2(max(a.x, b.x), max(a.y, b.y));
}
inline int dot(int2 a, int2 b) {
  return a.x * b.x + a.y * b.y;
}

inline int3 operator+(int3 a, int3 b) {
  return make_int3(a.x + b.x, a.y + b.y, a.z + b.z);
}
inline void operator+=(int3& a, int3 b) {
  a = a + b;
}
inline int3 operator+(int3 a, int b) {
  return make_int3(a.x + b, a.y + b, a.z + b);
}
inline void operator+=(int3& a, int b) {
  a = a + b;
}
inline int3 operator+(int a, int3 b) {
  return make_int3(a + b.x, a + b.y, a + b.z);
}
inline int3 operator-(int3 a, int3 b) {
  return make_int3(a.x - b.x, a.y - b.y, a.z - b.z);
}
inline void operator-=(int3& a, int3 b) {
  a = a - b;
}
inline int3 operator-(int3 a, int b) {
  return make_int3(a.x - b, a.y - b, a.z - b);
}
inline void operator-=(int3& a, int b) {
  a = a - b;
}
inline int3 operator-(int a, int3 b) {
  return make_int3(a - b.x, a - b.y, a - b.z);
}
inline int3 operator*(int3 a, int3 b) {
  return make_int3(a.x * b.x, a.y * b.y, a.z * b.z);
}
inline void operator*=(int3& a, int3 b) {
  a = a * b;
}
inline int3 operator*(int3 a, int b) {
  return make_int3(a.x * b, a.y * b, a.z * b);
}
inline void operator*=(int3& a, int b) {
  a = a * b;
}
inline int3 operator*(int a, int3 b) {
  return make_int3(a * b.x, a * b.y, a * b.z);
}
inline int3 operator-(int3 a) {
  return make_int3(-a.x, -a.y, -a.z);
}
inline int3 make_int3(int a) {
  return make_int3(a, a, a);
}
inline int3 min(int3 a, int3 b) {
  return make_int3(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z));
}
inline int3 max(int3 a, int3 b) {
  return make_int3(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z));
}
inline int dot(int3 a, int3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

inline int4 operator+(int4 a, int4 b) {
  return make_int4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
inline void operator+=(int4& a, int4 b) {
  a = a + b;
}
inline int4 operator+(int4 a, int b) {
  return make_int4(a.x + b, a.y + b, a.z + b, a.w + b);
}
inline void operator+=(int4& a, int b) {
  a = a + b;
}
inline int4 operator+(int a, int4 b) {
  return make_int4(a + b.x, a + b.y, a + b.z, a + b.w);
}
inline int4 operator-(int4 a, int4 b) {
  return make_int4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}
inline void operator-=(int4& a, int4 b) {
  a = a - b;
}
inline int4 operator-(int4 a, int b) {
  return make_int4(a.x - b, a.y - b, a.z - b, a.w - b);
}
inline void operator-=(int4& a, int b) {
  a = a - b;
}
inline int4 operator-(int a, int4 b) {
  return make_int4(a - b.x, a - b.y, a - b.z, a - b.w);
}
inline int4 operator*(int4 a, int4 b) {
  return make_int4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}
inline void operator*=(int4& a, int4 b) {
  a = a * b;
}
inline int4 operator*(int4 a, int b) {
  return make_int4(a.x * b, a.y * b, a.z * b, a.w * b);
}
inline void operator*=(int4& a, int b) {
  a = a * b;
}
inline int4 operator*(int a, int4 b) {
  return make_int4(a * b.x, a * b.y, a * b.z, a * b.w);
}
inline int4 operator-(int4 a) {
  return make_int4(-a.x, -a.y, -a.z, -a.w);
}
inline int4 make_int4(int a) {
  return make_int4(a, a, a, a);
}
inline int4 min(int4 a, int4 b) {
  return make_int4(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z), min(a.w, b.w));
}
inline int4 max(int4 a, int4 b) {
  return make_int4(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z), max(a.w, b.w));
}
inline int dot(int4 a, int4 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

inline uint2 operator+(uint2 a, uint2 b) {
  return make_uint2(a.x + b.x, a.y + b.y);
}
inline void operator+=(uint2& a, uint2 b) {
  a = a + b;
}
inline uint2 operator+(uint2 a, unsigned b) {
  return make_uint2(a.x + b, a.y + b);
}
inline void operator+=(uint2& a, unsigned b) {
  a = a + b;
}
inline uint2 operator+(unsigned a, uint2 b) {
  return make_uint2(a + b.x, a + b.y);
}
inline uint2 operator-(uint2 a, uint2 b) {
  return make_uint2(a.x - b.x, a.y - b.y);
}
inline void operator-=(uint2& a, uint2 b) {
  a = a - b;
}
inline uint2 operator-(uint2 a, unsigned b) {
  return make_uint2(a.x - b, a.y - b);
}
inline void operator-=(uint2& a, unsigned b) {
  a = a - b;
}
inline uint2 operator-(unsigned a, uint2 b) {
  return make_uint2(a - b.x, a - b.y);
}
inline uint2 operator*(uint2 a, uint2 b) {
  return make_uint2(a.x * b.x, a.y * b.y);
}
inline void operator*=(uint2& a, uint2 b) {
  a = a * b;
}
inline uint2 operator*(uint2 a, unsigned b) {
  return make_uint2(a.x * b, a.y * b);
}
inline void operator*=(uint2& a, unsigned b) {
  a = a * b;
}
inline uint2 operator*(unsigned a, uint2 b) {
  return make_uint2(a * b.x, a * b.y);
}
inline uint2 make_uint2(unsigned a) {
  return make_uint2(a, a);
}
inline uint2 min(uint2 a, uint2 b) {
  return make_uint2(min(a.x, b.x), min(a.y, b.y));
}
inline uint2 max(uint2 a, uint2 b) {
  return make_uint2(max(a.x, b.x), max(a.y, b.y));
}
inline unsigned dot(uint2 a, uint2 b) {
  return a.x * b.x + a.y * b.y;
}

inline uint3 operator+(uint3 a, uint3 b) {
  return make_uint3(a.x + b.x, a.y + b.y, a.z + b.z);
}
inline void operator+=(uint3& a, uint3 b) {
  a = a + b;
}
inline uint3 operator+(uint3 a, unsigned b) {
  return make_uint3(a.x + b, a.y + b, a.z + b);
}
inline void operator+=(uint3& a, unsigned b) {
  a = a + b;
}
inline uint3 operator+(unsigned a, uint3 b) {
  return make_uint3(a + b.x, a + b.y, a + b.z);
}
inline uint3 operator-(uint3 a, uint3 b) {
  return make_uint3(a.x - b.x, a.y - b.y, a.z - b.z);
}
inline void operator-=(uint3& a, uint3 b) {
  a = a - b;
}
inline uint3 operator-(uint3 a, unsigned b) {
  return make_uint3(a.x - b, a.y - b, a.z - b);
}
inline void operator-=(uint3& a, unsigned b) {
  a = a - b;
}
inline uint3 operator-(unsigned a, uint3 b) {
  return make_uint3(a - b.x, a - b.y, a - b.z);
}
inline uint3 operator*(uint3 a, uint3 b) {
  return make_uint3(a.x * b.x, a.y * b.y, a.z * b.z);
}
inline void operator*=(uint3& a, uint3 b) {
  a = a * b;
}
inline uint3 operator*(uint3 a, unsigned b) {
  return make_uint3(a.x * b, a.y * b, a.z * b);
}
inline void operator*=(uint3& a, unsigned b) {
  a = a * b;
}
inline uint3 operator*(unsigned a, uint3 b) {
  return make_uint3(a * b.x, a * b.y, a * b.z);
}
inline uint3 make_uint3(unsigned a) {
  return make_uint3(a, a, a);
}
inline uint3 min(uint3 a, uint3 b) {
  return make_uint3(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z));
}
inline uint3 max(uint3 a, uint3 b) {
  return make_uint3(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z));
}
inline unsigned dot(uint3 a, uint3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

inline uint4 operator+(uint4 a, uint4 b) {
  return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
inline void operator+=(uint4& a, uint4 b) {
  a = a + b;
}
inline uint4 operator+(uint4 a, unsigned b) {
  return make_uint4(a.x + b, a.y + b, a.z + b, a.w + b);
}
inline void operator+=(uint4& a, unsigned b) {
  a = a + b;
}
inline uint4 operator+(unsigned a, uint4 b) {
  return make_uint4(a + b.x, a + b.y, a + b.z, a + b.w);
}
inline uint4 operator-(uint4 a, uint4 b) {
  return make_uint4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}
inline void operator-=(uint4& a, uint4 b) {
  a = a - b;
}
inline uint4 operator-(uint4 a, unsigned b) {
  return make_uint4(a.x - b, a.y - b, a.z - b, a.w - b);
}
inline void operator-=(uint4& a, unsigned b) {
  a = a - b;
}
inline uint4 operator-(unsigned a, uint4 b) {
  return make_uint4(a - b.x, a - b.y, a - b.z, a - b.w);
}
inline uint4 operator*(uint4 a, uint4 b) {
  return make_uint4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}
inline void operator*=(uint4& a, uint4 b) {
  a = a * b;
}
inline uint4 operator*(uint4 a, unsigned b) {
  return make_uint4(a.x * b, a.y * b, a.z * b, a.w * b);
}
inline void operator*=(uint4& a, unsigned b) {
  a = a * b;
}
inline uint4 operator*(unsigned a, uint4 b) {
  return make_uint4(a * b.x, a * b.y, a * b.z, a * b.w);
}
inline uint4 make_uint4(unsigned a) {
  return make_uint4(a, a, a, a);
}
inline uint4 min(uint4 a, uint4 b) {
  return make_uint4(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z), min(a.w, b.w));
}
inline uint4 max(uint4 a, uint4 b) {
  return make_uint4(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z), max(a.w, b.w));
}
inline unsigned dot(uint4 a, uint4 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

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
  return make_float2(static_cast<float>(a.x), static_cast<float>(a.y));
}
inline int2 make_int2(float2 a) {
  return make_int2(static_cast<int>(a.x), static_cast<int>(a.y));
}
inline int3 make_int3(float3 a) {
  return make_int3(static_cast<int>(a.x), static_cast<int>(a.y), static_cast<int>(a.z));
}
inline float3 make_float3(int3 a) {
  return make_float3(static_cast<float>(a.x), static_cast<float>(a.y), static_cast<float>(a.z));
}

inline float2 lerp(float2 a, float2 b, float t) {
  return a + t * (b - a);
}
inline float2 clamp(float2 value, float low, float high) {
  return make_float2(clamp(value.x, low, high), clamp(value.y, low, high));
}
inline float2 clamp(float2 value, float2 low, float2 high) {
  return make_float2(clamp(value.x, low.x, high.x), clamp(value.y, low.y, high.y));
}
inline float length(float2 a) {
  return sqrtf(dot(a, a));
}
inline float2 normalize(float2 a) {
  return a * (1.0f / sqrtf(dot(a, a)));
}
inline float2 floorf(float2 a) {
  return make_float2(floorf(a.x), floorf(a.y));
}
inline float2 fracf(float2 a) {
  return a - floorf(a);
}
inline float2 fabs(float2 a) {
  return make_float2(fabsf(a.x), fabsf(a.y));
}
inline float2 fmodf(float2 a, float2 b) {
  return make_float2(fmodf(a.x, b.x), fmodf(a.y, b.y));
}
inline float2 reflect(float2 a, float2 normal) {
  return a - 2.0f * normal * dot(normal, a);
}

inline float3 lerp(float3 a, float3 b, float t) {
  return a + t * (b - a);
}
inline float3 clamp(float3 value, float low, float high) {
  return make_float3(clamp(value.x, low, high), clamp(value.y, low, high), clamp(value.z, low, high));
}
inline float3 clamp(float3 value, float3 low, float3 high) {
  return make_float3(clamp(value.x, low.x, high.x), clamp(value.y, low.y, high.y),
                     clamp(value.z, low.z, high.z));
}
inline float length(float3 a) {
  return sqrtf(dot(a, a));
}
inline float3 normalize(float3 a) {
  return a * (1.0f / sqrtf(dot(a, a)));
}
inline float3 floorf(float3 a) {
  return make_float3(floorf(a.x), floorf(a.y), floorf(a.z));
}
inline float3 fracf(float3 a) {
  return a - floorf(a);
}
inline float3 fabs(float3 a) {
  return make_float3(fabsf(a.x), fabsf(a.y), fabsf(a.z));
}
inline float3 fmodf(float3 a, float3 b) {
  return make_float3(fmodf(a.x, b.x), fmodf(a.y, b.y), fmodf(a.z, b.z));
}
inline float3 reflect(float3 a, float3 normal) {
  return a - 2.0f * normal * dot(normal, a);
}

inline float4 lerp(float4 a, float4 b, float t) {
  return a + t * (b - a);
}
inline float4 clamp(float4 value, float low, float high) {
  return make_float4(clamp(value.x, low, high), clamp(value.y, low, high), clamp(value.z, low, high),
                     clamp(value.w, low, high));
}
inline float4 clamp(float4 value, float4 low, float4 high) {
  return make_float4(clamp(value.x, low.x, high.x), clamp(value.y, low.y, high.y),
                     clamp(value.z, low.z, high.z), clamp(value.w, low.w, high.w));
}
inline float length(float4 a) {
  return sqrtf(dot(a, a));
}
inline float4 normalize(float4 a) {
  return a * (1.0f / sqrtf(dot(a, a)));
}
inline float4 floorf(float4 a) {
  return make_float4(floorf(a.x), floorf(a.y), floorf(a.z), floorf(a.w));
}
inline float4 fracf(float4 a) {
  return a - floorf(a);
}
inline float4 fabs(float4 a) {
  return make_float4(fabsf(a.x), fabsf(a.y), fabsf(a.z), fabsf(a.w));
}
inline float4 fmodf(float4 a, float4 b) {
  return make_float4(fmodf(a.x, b.x), fmodf(a.y, b.y), fmodf(a.z, b.z), fmodf(a.w, b.w));
}
inline float4 reflect(float4 a, float4 normal) {
  return a - 2.0f * normal * dot(normal, a);
}

inline float fracf(float a) {
  return a - floorf(a);
}
inline float smoothstep(float low, float high, float value) {
  const float part = clamp((value - low) / (high - low), 0.0f, 1.0f);
  return part * part * (3.0f - 2.0f * part);
}
