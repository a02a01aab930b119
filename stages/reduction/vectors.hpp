// The values of one 16-byte load: four float32 or two float64.
#pragma once

#include "common/cuda.hpp"

namespace lab::reduction {

template <class T>
struct vector_of;
template <>
struct vector_of<float> {
  using type = float4;
};
template <>
struct vector_of<double> {
  using type = double2;
};

// Values of T in one vector.
template <class T>
inline constexpr int vector_values = static_cast<int>(sizeof(typename vector_of<T>::type) / sizeof(T));

// A vector's values combined, in pairs.
template <class Operation>
__device__ __forceinline__ float combine_vector(const float4& v, Operation combine) {
  return combine(combine(v.x, v.y), combine(v.z, v.w));
}
template <class Operation>
__device__ __forceinline__ double combine_vector(const double2& v, Operation combine) {
  return combine(v.x, v.y);
}

}  // namespace lab::reduction
