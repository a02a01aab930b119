#include "common/emulator/programs/texture.hpp"

#include "common/emulator/core/kernel_memory.hpp"
#include "common/emulator/core/runtime_call.hpp"

using namespace lab::emulator;

struct cudaArray {
  cudaPitchedPtr memory;
  cudaChannelFormatDesc format;
  cudaExtent extent;
  unsigned flags;
};

namespace {

std::size_t bytes_of(const cudaChannelFormatDesc& format) {
  return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
}
bool is_format(const cudaChannelFormatDesc& format) {
  for (const int bits : {format.x, format.y, format.z, format.w}) {
    if (bits != 0 && bits != 8 && bits != 16 && bits != 32) return false;
  }
  return bytes_of(format) > 0;
}

// Half precision would need a conversion for each channel.
bool is_supported(const cudaChannelFormatDesc& format) {
  return format.f != cudaChannelFormatKindFloat || format.x == 32;
}

cudaError_t make(unsigned long long* object, const cudaResourceDesc& resource, const cudaTextureDesc& how) {
  texture one;
  one.how = how;
  one.resource = resource;
  switch (resource.resType) {
    case cudaResourceTypeArray: {
      const cudaArray* const array = resource.res.array.array;
      if (array == nullptr) return finish(cudaErrorInvalidValue);
      one.memory = static_cast<const unsigned char*>(array->memory.ptr);
      one.format = array->format;
      one.pitch = array->memory.pitch;
      const std::size_t size[3] = {array->extent.width, array->extent.height, array->extent.depth};
      for (int axis = 0; axis < 3; ++axis)
        one.size[axis] = static_cast<long long>(std::max<std::size_t>(size[axis], 1));
      // The layers of an array of one dimension are its rows' second place.
      if (array->extent.height == 0 && array->extent.depth > 0) std::swap(one.size[1], one.size[2]);
      break;
    }
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      if (!is_format(linear.desc)) return finish(cudaErrorInvalidValue);
      one.memory = static_cast<const unsigned char*>(linear.devPtr);
      one.format = linear.desc;
      one.size[0] = static_cast<long long>(linear.sizeInBytes / bytes_of(linear.desc));
      one.size[1] = one.size[2] = 1;
      break;
    }
    case cudaResourceTypePitch2D: {
      const auto& pitched = resource.res.pitch2D;
      if (!is_format(pitched.desc) || pitched.pitchInBytes < pitched.width * bytes_of(pitched.desc))
        return finish(cudaErrorInvalidValue);
      one.memory = static_cast<const unsigned char*>(pitched.devPtr);
      one.format = pitched.desc;
      one.pitch = pitched.pitchInBytes;
      one.size[0] = static_cast<long long>(pitched.width);
      one.size[1] = static_cast<long long>(pitched.height);
      one.size[2] = 1;
      break;
    }
    default:
      return finish(cudaErrorNotSupported);
  }
  if (one.memory == nullptr || object == nullptr) return finish(cudaErrorInvalidValue);
  if (!is_supported(one.format)) return finish(cudaErrorNotSupported);
  ++effects_of_kernels.unseen_changes;
  *object = reinterpret_cast<unsigned long long>(new texture(one)) | object_mark;
  return finish(cudaSuccess);
}

cudaError_t destroy(unsigned long long object) {
  delete &texture_of(object);
  return finish(cudaSuccess);
}

char* element_at(cudaArray_const_t array, std::size_t x, std::size_t y) {
  return static_cast<char*>(array->memory.ptr) + y * array->memory.pitch + x;
}

// Rows of the array follow one another without their padding.
template <class Copy>
cudaError_t row_by_row(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t bytes, Copy copy) {
  const std::size_t width = array->extent.width * bytes_of(array->format);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t some = std::min(bytes - done, width - x);
    if (some == 0 || y >= std::max<std::size_t>(array->extent.height, 1))
      return finish(cudaErrorInvalidValue);
    if (const cudaError_t error = copy(element_at(array, x, y), done, some); error != cudaSuccess)
      return error;
    done += some;
    x = 0;
    ++y;
  }
  return cudaSuccess;
}

}  // namespace

namespace lab::emulator {

std::size_t bytes_of_texel(cudaArray_const_t array) {
  return bytes_of(array->format);
}
cudaPitchedPtr memory_of(cudaArray_const_t array) {
  return array->memory;
}

// The face order and orientation of CUDA's programming guide, "Cubemap Textures": +x, -x, +y, -y, +z, -z.
cube_point on_cube(float x, float y, float z) {
  const float length_x = std::fabs(x), length_y = std::fabs(y), length_z = std::fabs(z);
  float along, s, t;
  int face;
  if (length_x >= length_y && length_x >= length_z) {
    along = length_x;
    face = x >= 0 ? 0 : 1;
    s = x >= 0 ? -z : z;
    t = -y;
  } else if (length_y >= length_z) {
    along = length_y;
    face = y >= 0 ? 2 : 3;
    s = x;
    t = y >= 0 ? z : -z;
  } else {
    along = length_z;
    face = z >= 0 ? 4 : 5;
    s = z >= 0 ? x : -x;
    t = -y;
  }
  return {(s / along + 1) / 2, (t / along + 1) / 2, face};
}

}  // namespace lab::emulator

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags) {
  if (array == nullptr || format == nullptr || !is_format(*format) || extent.width == 0)
    return finish(cudaErrorInvalidValue);
  if ((flags & cudaArrayCubemap) != 0 && (extent.width != extent.height || extent.depth % 6 != 0))
    return finish(cudaErrorInvalidValue);
  const std::size_t rows = std::max<std::size_t>(extent.height, 1);
  void* memory = nullptr;
  std::size_t pitch = 0;
  const cudaError_t result = cudaMallocPitch(&memory, &pitch, extent.width * bytes_of(*format),
                                             rows * std::max<std::size_t>(extent.depth, 1));
  if (result != cudaSuccess) return result;
  *array = new cudaArray{{memory, pitch, extent.width, rows}, *format, extent, flags};
  return finish(cudaSuccess);
}
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, std::size_t width,
                            std::size_t height, unsigned flags) {
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  if (array == nullptr) return finish(cudaSuccess);
  const cudaError_t result = cudaFree(array->memory.ptr);
  delete array;
  return result;
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  if (array == nullptr) return finish(cudaErrorInvalidValue);
  if (format != nullptr) *format = array->format;
  if (extent != nullptr) *extent = array->extent;
  if (flags != nullptr) *flags = array->flags;
  return finish(cudaSuccess);
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t from_pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  if (to == nullptr) return finish(cudaErrorInvalidValue);
  return cudaMemcpy2D(element_at(to, x, y), to->memory.pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t to_pitch, cudaArray_const_t from, std::size_t x,
                                  std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (from == nullptr) return finish(cudaErrorInvalidValue);
  return cudaMemcpy2D(to, to_pitch, element_at(from, x, y), from->memory.pitch, width, height, kind);
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind) {
  if (to == nullptr) return finish(cudaErrorInvalidValue);
  return row_by_row(to, x, y, bytes, [&](char* element, std::size_t done, std::size_t some) {
    return cudaMemcpy(element, static_cast<const char*>(from) + done, some, kind);
  });
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind) {
  if (from == nullptr) return finish(cudaErrorInvalidValue);
  return row_by_row(from, x, y, bytes, [&](char* element, std::size_t done, std::size_t some) {
    return cudaMemcpy(static_cast<char*>(to) + done, element, some, kind);
  });
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc*) {
  if (resource == nullptr || how == nullptr) return finish(cudaErrorInvalidValue);
  return make(texture, *resource, *how);
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return destroy(texture);
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
  if (resource == nullptr || resource->resType != cudaResourceTypeArray) return finish(cudaErrorInvalidValue);
  return make(surface, *resource, {});
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return destroy(surface);
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture) {
  if (resource == nullptr || texture == 0) return finish(cudaErrorInvalidValue);
  *resource = texture_of(texture).resource;
  return finish(cudaSuccess);
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* how, cudaTextureObject_t texture) {
  if (how == nullptr || texture == 0) return finish(cudaErrorInvalidValue);
  *how = texture_of(texture).how;
  return finish(cudaSuccess);
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t surface) {
  return cudaGetTextureObjectResourceDesc(resource, surface);
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<cudaArray_t>(array));
}
