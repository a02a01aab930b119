// Textures and surfaces over arrays, pitched and linear memory, read with the filters of the hardware. Their
// memory is ordinary device memory: what a kernel fetches counts as a load from global memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/emulator/core/thread_functions.hpp"
#include "common/emulator/core/vector_types.hpp"
#include "common/emulator/programs/program_api.hpp"

using cudaArray_t = struct cudaArray*;
using cudaArray_const_t = const cudaArray*;
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

enum cudaChannelFormatKind : int {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3,
};
struct cudaChannelFormatDesc {
  int x, y, z, w;  // bits
  cudaChannelFormatKind f;
};
enum cudaResourceType : int {
  cudaResourceTypeArray = 0,
  cudaResourceTypeMipmappedArray = 1,
  cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3,
};
enum cudaTextureAddressMode : int {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3,
};
enum cudaTextureFilterMode : int { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode : int { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaSurfaceBoundaryMode : int {
  cudaBoundaryModeZero = 0,
  cudaBoundaryModeClamp = 1,
  cudaBoundaryModeTrap = 2,
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization;
  int seamlessCubemap;
};
struct cudaResourceViewDesc;

inline constexpr unsigned cudaArrayDefault = 0;
inline constexpr unsigned cudaArrayLayered = 1;
inline constexpr unsigned cudaArraySurfaceLoadStore = 2;
inline constexpr unsigned cudaArrayCubemap = 4;
inline constexpr unsigned cudaArrayTextureGather = 8;

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

// A dimension of 0 is one that the array has not.
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, std::size_t width,
                            std::size_t height = 0, unsigned flags = 0);
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags = 0);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array);
// Offsets and widths are bytes.
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t from_pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t to_pitch, cudaArray_const_t from, std::size_t x,
                                  std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface);
// What an object was made of.
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture);
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* how, cudaTextureObject_t texture);
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t surface);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array);

namespace lab::emulator {

std::size_t bytes_of_texel(cudaArray_const_t array);
cudaPitchedPtr memory_of(cudaArray_const_t array);

struct texture {
  const unsigned char* memory = nullptr;
  cudaChannelFormatDesc format{};
  long long size[3] = {};  // texels; at least 1
  std::size_t pitch = 0;   // bytes of a row
  cudaTextureDesc how{};
  cudaResourceDesc resource{};
};

template <class T>
struct channel_of {
  using type = T;
};
template <class Element>
struct channel_of<emulated_vector2<Element>> {
  using type = Element;
};
template <class Element>
struct channel_of<emulated_vector3<Element>> {
  using type = Element;
};
template <class Element>
struct channel_of<emulated_vector4<Element>> {
  using type = Element;
};

inline const unsigned char* texel_at(const texture& one, const long long* index) {
  const auto bytes = static_cast<std::size_t>(one.format.x + one.format.y + one.format.z + one.format.w) / 8;
  return one.memory + static_cast<std::size_t>(index[2] * one.size[1] + index[1]) * one.pitch +
         static_cast<std::size_t>(index[0]) * bytes;
}

// Brings the index into the texture; false if there is a border.
inline bool address_texel(const texture& one, long long* index) {
  for (int axis = 0; axis < 3; ++axis) {
    const long long size = one.size[axis];
    long long& at = index[axis];
    if (at >= 0 && at < size) continue;
    switch (one.how.addressMode[axis]) {
      case cudaAddressModeBorder:
        return false;
      case cudaAddressModeWrap:
        if (one.how.normalizedCoords) {
          at = (at % size + size) % size;
          continue;
        }
        break;
      case cudaAddressModeMirror:
        if (one.how.normalizedCoords) {
          at = (at % (2 * size) + 2 * size) % (2 * size);
          at = at < size ? at : 2 * size - 1 - at;
          continue;
        }
        break;
      case cudaAddressModeClamp:
        break;
    }
    at = std::clamp(at, 0ll, size - 1);
  }
  return true;
}

// A channel as a number; an integer's range is that of [0, 1] or [-1, 1] where it is read normalised.
inline float channel_value(const texture& one, const unsigned char* at, int bits) {
  const bool normalised = one.how.readMode == cudaReadModeNormalizedFloat;
  if (one.format.f == cudaChannelFormatKindFloat) {
    float value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  std::int64_t value = 0;
  std::memcpy(&value, at, static_cast<std::size_t>(bits / 8));
  const int shift = 64 - bits;
  if (one.format.f == cudaChannelFormatKindSigned)
    value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << shift) >> shift;
  if (!normalised) return static_cast<float>(value);
  const bool is_signed = one.format.f == cudaChannelFormatKindSigned;
  return std::max(-1.0f, static_cast<float>(value) /
                             static_cast<float>((std::uint64_t{1} << (bits - (is_signed ? 1 : 0))) - 1));
}

template <class T>
T fetch_point(const texture& one, long long* index) {
  using channel = typename channel_of<T>::type;
  constexpr std::size_t channels = sizeof(T) / sizeof(channel);
  T result{};
  auto* const to = reinterpret_cast<channel*>(&result);
  const int bits[4] = {one.format.x, one.format.y, one.format.z, one.format.w};
  if (!address_texel(one, index)) {
    for (std::size_t i = 0; i < std::min<std::size_t>(channels, 4); ++i)
      to[i] = static_cast<channel>(one.how.borderColor[i]);
    return result;
  }
  const unsigned char* const from = texel_at(one, index);
  if (one.how.readMode == cudaReadModeElementType &&
      sizeof(T) * 8 == static_cast<std::size_t>(bits[0] + bits[1] + bits[2] + bits[3])) {
    return *reinterpret_cast<const T*>(from);  // one access, as the kernel's own would be
  }
  std::size_t offset = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(channels, 4) && bits[i] > 0; ++i) {
    to[i] = static_cast<channel>(channel_value(one, from + offset, bits[i]));
    offset += static_cast<std::size_t>(bits[i]) / 8;
  }
  return result;
}

// CUDA's programming guide, "Texture Fetching": weights have 8 bits behind the point.
template <class T>
T fetch(const texture& one, float x, float y, float z, int axes) {
  const float coordinates[3] = {x, y, z};
  float at[3] = {};
  for (int axis = 0; axis < axes; ++axis) {
    const bool scaled = one.how.normalizedCoords != 0;
    at[axis] = scaled ? coordinates[axis] * static_cast<float>(one.size[axis]) : coordinates[axis];
  }
  long long index[3] = {};
  for (int axis = axes; axis < 3; ++axis) index[axis] = static_cast<long long>(coordinates[axis]);  // a layer
  using channel = typename channel_of<T>::type;
  if constexpr (std::is_floating_point_v<channel>) {
    if (one.how.filterMode == cudaFilterModeLinear) {
      long long first[3] = {index[0], index[1], index[2]};
      float weight[3] = {};
      for (int axis = 0; axis < axes; ++axis) {
        const float shifted = at[axis] - 0.5f;
        first[axis] = static_cast<long long>(std::floor(shifted));
        weight[axis] = std::nearbyint((shifted - std::floor(shifted)) * 256.0f) / 256.0f;
      }
      T sum{};
      for (int corner = 0; corner < 1 << axes; ++corner) {
        float share = 1;
        for (int axis = 0; axis < 3; ++axis) {
          const int far = axis < axes ? corner >> axis & 1 : 0;
          index[axis] = first[axis] + far;
          if (axis < axes) share *= far != 0 ? weight[axis] : 1 - weight[axis];
        }
        if (share == 0) continue;
        const T texel = fetch_point<T>(one, index);
        for (std::size_t i = 0; i < sizeof(T) / sizeof(channel); ++i)
          reinterpret_cast<channel*>(&sum)[i] += share * reinterpret_cast<const channel*>(&texel)[i];
      }
      return sum;
    }
  }
  for (int axis = 0; axis < axes; ++axis) index[axis] = static_cast<long long>(std::floor(at[axis]));
  return fetch_point<T>(one, index);
}

// An object's number is its address with a bit that no address has: what a kernel is given is no pointer to
// the host's memory.
inline constexpr unsigned long long object_mark = 1ull << 63;
inline const texture& texture_of(unsigned long long object) {
  return *reinterpret_cast<const texture*>(object & ~object_mark);
}

// The face of a cube in which a direction ends, and where.
struct cube_point {
  float x, y;
  int face;
};
cube_point on_cube(float x, float y, float z);

// Of a surface: the element at x bytes, or null outside of it.
template <class T>
T* element_of(cudaSurfaceObject_t surface, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
  const texture& one = texture_of(surface);
  long long index[3] = {x / static_cast<long long>(sizeof(T)), y, z};
  for (int axis = 0; axis < 3; ++axis) {
    if (mode == cudaBoundaryModeClamp) index[axis] = std::clamp(index[axis], 0ll, one.size[axis] - 1);
    if (index[axis] < 0 || index[axis] >= one.size[axis]) {
      if (mode == cudaBoundaryModeTrap) __trap();
      return nullptr;
    }
  }
  return reinterpret_cast<T*>(const_cast<unsigned char*>(texel_at(one, index)));
}

}  // namespace lab::emulator

template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using channel = typename lab::emulator::channel_of<T>::type;
  constexpr int bits = sizeof(channel) * 8, count = sizeof(T) / sizeof(channel);
  const auto kind = std::is_floating_point_v<channel> ? cudaChannelFormatKindFloat
                    : std::is_signed_v<channel>       ? cudaChannelFormatKindSigned
                                                      : cudaChannelFormatKindUnsigned;
  return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind};
}

#define LAB_EMULATOR_FETCH(name, axes, parameters, x, y, z)                            \
  template <class T>                                                                   \
  T name parameters {                                                                  \
    return lab::emulator::fetch<T>(lab::emulator::texture_of(texture), x, y, z, axes); \
  }
#define LAB_LIST(...) (__VA_ARGS__)
LAB_EMULATOR_FETCH(tex1D, 1, LAB_LIST(cudaTextureObject_t texture, float x), x, 0, 0)
LAB_EMULATOR_FETCH(tex1DLod, 1, LAB_LIST(cudaTextureObject_t texture, float x, float), x, 0, 0)
LAB_EMULATOR_FETCH(tex2D, 2, LAB_LIST(cudaTextureObject_t texture, float x, float y), x, y, 0)
LAB_EMULATOR_FETCH(tex2DLod, 2, LAB_LIST(cudaTextureObject_t texture, float x, float y, float), x, y, 0)
LAB_EMULATOR_FETCH(tex3D, 3, LAB_LIST(cudaTextureObject_t texture, float x, float y, float z), x, y, z)
LAB_EMULATOR_FETCH(tex3DLod, 3, LAB_LIST(cudaTextureObject_t texture, float x, float y, float z, float), x, y,
                   z)
LAB_EMULATOR_FETCH(tex2DLayered, 2, LAB_LIST(cudaTextureObject_t texture, float x, float y, int layer), x, y,
                   static_cast<float>(layer))
#undef LAB_LIST
#undef LAB_EMULATOR_FETCH
template <class T>
T tex1DLayered(cudaTextureObject_t texture, float x, int layer) {
  return lab::emulator::fetch<T>(lab::emulator::texture_of(texture), x, static_cast<float>(layer), 0, 1);
}
template <class T>
T tex1Dfetch(cudaTextureObject_t texture, int x) {
  const lab::emulator::texture& one = lab::emulator::texture_of(texture);
  if (x < 0 || x >= one.size[0]) return T{};
  long long index[3] = {x, 0, 0};
  return lab::emulator::fetch_point<T>(one, index);
}
template <class T>
T texCubemap(cudaTextureObject_t texture, float x, float y, float z) {
  const lab::emulator::cube_point point = lab::emulator::on_cube(x, y, z);
  return lab::emulator::fetch<T>(lab::emulator::texture_of(texture), point.x, point.y,
                                 static_cast<float>(point.face), 2);
}
template <class T>
void tex1Dfetch(T* value, cudaTextureObject_t texture, int x) {
  *value = tex1Dfetch<T>(texture, x);
}
template <class T>
void tex2D(T* value, cudaTextureObject_t texture, float x, float y) {
  *value = tex2D<T>(texture, x, y);
}
template <class T>
void tex3D(T* value, cudaTextureObject_t texture, float x, float y, float z) {
  *value = tex3D<T>(texture, x, y, z);
}

// x in bytes, as CUDA defines it.
#define LAB_EMULATOR_SURFACE(name, parameters, x, y, z)                              \
  template <class T>                                                                 \
  T name##read(cudaSurfaceObject_t surface,                                          \
               parameters cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {     \
    const T* const element = lab::emulator::element_of<T>(surface, x, y, z, mode);   \
    return element != nullptr ? *element : T{};                                      \
  }                                                                                  \
  template <class T>                                                                 \
  void name##read(T* value, cudaSurfaceObject_t surface,                             \
                  parameters cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
    const T* const element = lab::emulator::element_of<T>(surface, x, y, z, mode);   \
    *value = element != nullptr ? *element : T{};                                    \
  }                                                                                  \
  template <class T>                                                                 \
  void name##write(T value, cudaSurfaceObject_t surface,                             \
                   parameters cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    T* const element = lab::emulator::element_of<T>(surface, x, y, z, mode);         \
    if (element != nullptr) *element = value;                                        \
  }
#define LAB_COMMA ,
LAB_EMULATOR_SURFACE(surf1D, int x LAB_COMMA, x, 0, 0)
LAB_EMULATOR_SURFACE(surf2D, int x LAB_COMMA int y LAB_COMMA, x, y, 0)
LAB_EMULATOR_SURFACE(surf3D, int x LAB_COMMA int y LAB_COMMA int z LAB_COMMA, x, y, z)
LAB_EMULATOR_SURFACE(surf2DLayered, int x LAB_COMMA int y LAB_COMMA int z LAB_COMMA, x, y, z)
#undef LAB_COMMA
#undef LAB_EMULATOR_SURFACE

// ---- texture references, which CUDA 12 has dropped: `texture<float, 2> name;` is rewritten to one of these

inline constexpr int cudaTextureType1D = 1;
inline constexpr int cudaTextureType2D = 2;
inline constexpr int cudaTextureType3D = 3;
inline constexpr int cudaTextureType1DLayered = 0xF1;
inline constexpr int cudaTextureType2DLayered = 0xF2;

namespace lab::emulator {

template <class T>
struct float_of {
  using type = float;
};
template <class Element>
struct float_of<emulated_vector2<Element>> {
  using type = float2;
};
template <class Element>
struct float_of<emulated_vector4<Element>> {
  using type = float4;
};

struct texture_settings {
  int normalized = 0;
  cudaTextureFilterMode filterMode = cudaFilterModePoint;
  cudaTextureAddressMode addressMode[3] = {cudaAddressModeClamp, cudaAddressModeClamp, cudaAddressModeClamp};
  cudaChannelFormatDesc channelDesc{};
  cudaTextureReadMode readMode = cudaReadModeElementType;
  cudaTextureObject_t object = 0;  // while it is bound
};
template <class T, int Type = 1, cudaTextureReadMode Mode = cudaReadModeElementType>
struct texture_reference : texture_settings {
  using result = std::conditional_t<Mode == cudaReadModeNormalizedFloat, typename float_of<T>::type, T>;
  static constexpr cudaTextureReadMode mode = Mode;
  texture_reference() {
    channelDesc = cudaCreateChannelDesc<T>();
    readMode = Mode;
  }
  explicit texture_reference(int is_normalized, cudaTextureFilterMode filter = cudaFilterModePoint,
                             cudaTextureAddressMode address = cudaAddressModeClamp)
      : texture_reference() {
    normalized = is_normalized;
    filterMode = filter;
    for (cudaTextureAddressMode& each : addressMode) each = address;
  }
};

inline cudaError_t unbind(texture_settings& reference) {
  if (reference.object != 0) cudaDestroyTextureObject(reference.object);
  reference.object = 0;
  return cudaSuccess;
}
inline cudaError_t bind(texture_settings& reference, const cudaResourceDesc& resource) {
  unbind(reference);
  cudaTextureDesc how{};
  for (int axis = 0; axis < 3; ++axis) how.addressMode[axis] = reference.addressMode[axis];
  how.filterMode = reference.filterMode;
  how.normalizedCoords = reference.normalized;
  how.readMode = reference.readMode;
  return cudaCreateTextureObject(&reference.object, &resource, &how, nullptr);
}

}  // namespace lab::emulator

// What every texture<..> is to C's functions, which take its address.
using textureReference = lab::emulator::texture_settings;

inline cudaError_t cudaBindTexture(std::size_t* offset, const textureReference* reference, const void* memory,
                                   const cudaChannelFormatDesc* format, std::size_t bytes = 0xffffffffu) {
  if (offset != nullptr) *offset = 0;
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {const_cast<void*>(memory), *format, bytes};
  return lab::emulator::bind(const_cast<textureReference&>(*reference), resource);
}
inline cudaError_t cudaBindTexture2D(std::size_t* offset, const textureReference* reference,
                                     const void* memory, const cudaChannelFormatDesc* format,
                                     std::size_t width, std::size_t height, std::size_t pitch) {
  if (offset != nullptr) *offset = 0;
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {const_cast<void*>(memory), *format, width, height, pitch};
  return lab::emulator::bind(const_cast<textureReference&>(*reference), resource);
}
inline cudaError_t cudaBindTextureToArray(const textureReference* reference, cudaArray_const_t array,
                                          const cudaChannelFormatDesc*) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = const_cast<cudaArray_t>(array);
  return lab::emulator::bind(const_cast<textureReference&>(*reference), resource);
}
inline cudaError_t cudaUnbindTexture(const textureReference* reference) {
  return lab::emulator::unbind(const_cast<textureReference&>(*reference));
}
inline cudaError_t cudaGetTextureReference(const textureReference** reference, const void* symbol) {
  *reference = static_cast<const textureReference*>(symbol);
  return cudaSuccess;
}
// C++'s take the texture itself; its elements tell the format.
inline cudaError_t cudaBindTexture(std::size_t* offset, const textureReference& reference, const void* memory,
                                   const cudaChannelFormatDesc& format, std::size_t bytes = 0xffffffffu) {
  return cudaBindTexture(offset, &reference, memory, &format, bytes);
}
inline cudaError_t cudaBindTexture(std::size_t* offset, const textureReference& reference, const void* memory,
                                   std::size_t bytes = 0xffffffffu) {
  return cudaBindTexture(offset, &reference, memory, &reference.channelDesc, bytes);
}
inline cudaError_t cudaBindTexture2D(std::size_t* offset, const textureReference& reference,
                                     const void* memory, const cudaChannelFormatDesc& format,
                                     std::size_t width, std::size_t height, std::size_t pitch) {
  return cudaBindTexture2D(offset, &reference, memory, &format, width, height, pitch);
}
inline cudaError_t cudaBindTexture2D(std::size_t* offset, const textureReference& reference,
                                     const void* memory, std::size_t width, std::size_t height,
                                     std::size_t pitch) {
  return cudaBindTexture2D(offset, &reference, memory, &reference.channelDesc, width, height, pitch);
}
inline cudaError_t cudaBindTextureToArray(const textureReference& reference, cudaArray_const_t array) {
  return cudaBindTextureToArray(&reference, array, nullptr);
}
inline cudaError_t cudaBindTextureToArray(const textureReference& reference, cudaArray_const_t array,
                                          const cudaChannelFormatDesc&) {
  return cudaBindTextureToArray(&reference, array, nullptr);
}
inline cudaError_t cudaUnbindTexture(const textureReference& reference) {
  return cudaUnbindTexture(&reference);
}
#define LAB_EMULATOR_FETCH(name)                                                                            \
  template <class T, int Type, cudaTextureReadMode Mode, class... Coordinates>                              \
  auto name(const lab::emulator::texture_reference<T, Type, Mode>& reference, Coordinates... at) {          \
    return name<typename lab::emulator::texture_reference<T, Type, Mode>::result>(reference.object, at...); \
  }
LAB_EMULATOR_FETCH(tex1Dfetch)
LAB_EMULATOR_FETCH(tex1D)
LAB_EMULATOR_FETCH(tex2D)
LAB_EMULATOR_FETCH(tex3D)
LAB_EMULATOR_FETCH(tex1DLayered)
LAB_EMULATOR_FETCH(tex2DLayered)
LAB_EMULATOR_FETCH(texCubemap)
#undef LAB_EMULATOR_FETCH
