// The names of the driver's API that programs use without calling it. Of its functions those of tensor maps
// are emulated, and a few that ask for the device.
#pragma once

#define __cuda_cuda_h__

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "common/emulator/core/tensor_copy_functions.hpp"

enum CUresult : int {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_NOT_SUPPORTED = 801,
};
enum CUdevice_attribute : int {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
  CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
  CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
  CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED = 102,
  CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED = 107,
};
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;

inline CUresult cuInit(unsigned) {
  return CUDA_SUCCESS;
}
inline CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
inline CUresult cuDeviceGet(CUdevice* device, int) {
  *device = 0;
  return CUDA_SUCCESS;
}
inline CUresult cuDriverGetVersion(int* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
inline CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = error == CUDA_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR_UNKNOWN";
  return CUDA_SUCCESS;
}
inline CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = error == CUDA_SUCCESS ? "no error" : "an error of the driver API";
  return CUDA_SUCCESS;
}
// The numbers are those of the runtime's attributes; what it does not know is not supported.
inline CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device) != cudaSuccess) {
    cudaGetLastError();
    *value = 0;
  }
  return CUDA_SUCCESS;
}
inline CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  cudaDeviceProp properties;
  if (length < 1 || cudaGetDeviceProperties(&properties, device) != cudaSuccess)
    return CUDA_ERROR_INVALID_VALUE;
  snprintf(name, static_cast<std::size_t>(length), "%s", properties.name);
  return CUDA_SUCCESS;
}
inline CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return CUDA_ERROR_INVALID_VALUE;
  *bytes = properties.totalGlobalMem;
  return CUDA_SUCCESS;
}
// There is one context, and it is always current.
inline CUresult cuCtxCreate(CUcontext* context, unsigned, CUdevice) {
  *context = nullptr;
  return CUDA_SUCCESS;
}
inline CUresult cuCtxDestroy(CUcontext) {
  return CUDA_SUCCESS;
}
inline CUresult cuCtxSetCurrent(CUcontext) {
  return CUDA_SUCCESS;
}
inline CUresult cuCtxGetDevice(CUdevice* device) {
  return cudaGetDevice(device) == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
inline CUresult cuCtxSynchronize() {
  return cudaDeviceSynchronize() == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

// ---- tensor maps (not interleaved, zeros outside)

using cuuint32_t = std::uint32_t;
using cuuint64_t = std::uint64_t;
struct alignas(64) CUtensorMap {
  cuuint64_t opaque[16];  // a lab::tensor_layout
};
enum CUtensorMapDataType : int {
  CU_TENSOR_MAP_DATA_TYPE_UINT8,
  CU_TENSOR_MAP_DATA_TYPE_UINT16,
  CU_TENSOR_MAP_DATA_TYPE_UINT32,
  CU_TENSOR_MAP_DATA_TYPE_INT32,
  CU_TENSOR_MAP_DATA_TYPE_UINT64,
  CU_TENSOR_MAP_DATA_TYPE_INT64,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
  CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
  CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
};
enum CUtensorMapInterleave : int {
  CU_TENSOR_MAP_INTERLEAVE_NONE,
  CU_TENSOR_MAP_INTERLEAVE_16B,
  CU_TENSOR_MAP_INTERLEAVE_32B,
};
enum CUtensorMapSwizzle : int {
  CU_TENSOR_MAP_SWIZZLE_NONE,
  CU_TENSOR_MAP_SWIZZLE_32B,
  CU_TENSOR_MAP_SWIZZLE_64B,
  CU_TENSOR_MAP_SWIZZLE_128B,
};
enum CUtensorMapL2promotion : int {
  CU_TENSOR_MAP_L2_PROMOTION_NONE,
  CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
  CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
  CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
};
enum CUtensorMapFloatOOBfill : int {
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
};

// What no tensor map can be is said on stderr, too.
inline CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                       void* global, const cuuint64_t* sizes, const cuuint64_t* strides,
                                       const cuuint32_t* box, const cuuint32_t* element_strides,
                                       CUtensorMapInterleave interleave, CUtensorMapSwizzle pattern,
                                       CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  constexpr unsigned bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  if (map == nullptr || rank < 1 || rank > lab::tensor_layout::most_dimensions)
    return CUDA_ERROR_INVALID_VALUE;
  const auto refuse = [](const char* what, CUresult result) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled: %s\n", what);
    return result;
  };
  bool is_plain = interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  for (cuuint32_t k = 0; k < rank; ++k) is_plain = is_plain && element_strides[k] == 1;
  if (!is_plain)
    return refuse("emulated are maps of every element, not interleaved, with zeros outside",
                  CUDA_ERROR_NOT_SUPPORTED);
  if (type > CU_TENSOR_MAP_DATA_TYPE_BFLOAT16)
    return refuse("maps that convert what they copy are not emulated", CUDA_ERROR_NOT_SUPPORTED);
  constexpr lab::swizzle patterns[] = {lab::swizzle::none, lab::swizzle::bytes_32, lab::swizzle::bytes_64,
                                       lab::swizzle::bytes_128};
  lab::tensor_layout layout{
      .global = global, .rank = rank, .element_bytes = bytes[type], .pattern = patterns[pattern]};
  for (cuuint32_t k = 0; k < rank; ++k) {
    layout.sizes[k] = sizes[k];
    layout.strides[k] = k == 0 ? layout.element_bytes : strides[k - 1];
    layout.box[k] = box[k];
  }
  if (layout.pattern != lab::swizzle::none &&
      box[0] * layout.element_bytes < static_cast<unsigned>(layout.pattern))
    return refuse("a swizzled box that is narrower than its swizzle is not emulated",
                  CUDA_ERROR_NOT_SUPPORTED);
  try {
    lab::check(layout);
  } catch (const std::invalid_argument& error) {
    return refuse(error.what(), CUDA_ERROR_INVALID_VALUE);
  }
  static_assert(sizeof layout <= sizeof map->opaque);
  std::memset(map, 0, sizeof *map);
  std::memcpy(map->opaque, static_cast<const void*>(&layout), sizeof layout);
  return CUDA_SUCCESS;
}

// ---- functions of the driver by their names

enum cudaDriverEntryPointQueryResult : int {
  cudaDriverEntryPointSuccess,
  cudaDriverEntryPointSymbolNotFound,
  cudaDriverEntryPointVersionNotSufficent,
};
inline constexpr unsigned long long cudaEnableDefault = 0;
inline cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                           cudaDriverEntryPointQueryResult* result = nullptr) {
  const bool is_known = std::strcmp(name, "cuTensorMapEncodeTiled") == 0;
  *function = is_known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  if (result != nullptr)
    *result = is_known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
inline cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                    unsigned long long flags,
                                                    cudaDriverEntryPointQueryResult* result = nullptr) {
  return cudaGetDriverEntryPoint(name, function, flags, result);
}
