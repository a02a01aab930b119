// Copies of boxes of a tensor between global and shared memory by the tensor memory accelerator (TMA, compute
// capability 9.0). PTX ISA, section "cp.async.bulk.tensor". A kernel takes its tensor map as `const
// __grid_constant__ lab::tensor_map`. On lower architectures the functions trap. Layouts and swizzles are in
// common/emulator/core/tensor_layout.hpp, the emulator's functions in
// common/emulator/core/tensor_copy_functions.hpp.
#pragma once

#include "common/bulk_copy.hpp"
#include "common/cuda.hpp"
#include "common/emulator/core/tensor_layout.hpp"
#include "common/sm90.hpp"
#if LAB_EMULATED
#include "common/emulator/core/tensor_copy_functions.hpp"
#else
#include <cuda.h>

namespace lab {

using tensor_map = CUtensorMap;

// Throws std::invalid_argument, or cuda_error where the driver has no tensor maps.
inline tensor_map encode(const tensor_layout& layout) {
  check(layout);
  static const auto function = [] {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &address, 12000, cudaEnableDefault,
                                                &found));
    CUDA_CHECK(found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorNotSupported);
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(address);
  }();
  const CUtensorMapDataType type = layout.element_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : layout.element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                   : layout.element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                                               : CU_TENSOR_MAP_DATA_TYPE_UINT64;
  const CUtensorMapSwizzle pattern = layout.pattern == swizzle::none       ? CU_TENSOR_MAP_SWIZZLE_NONE
                                     : layout.pattern == swizzle::bytes_32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                     : layout.pattern == swizzle::bytes_64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                                           : CU_TENSOR_MAP_SWIZZLE_128B;
  constexpr cuuint32_t every_element[] = {1, 1, 1};
  tensor_map map{};
  const CUresult result =
      function(&map, type, layout.rank, layout.global, layout.sizes.data(), layout.strides.data() + 1,
               layout.box.data(), every_element, CU_TENSOR_MAP_INTERLEAVE_NONE, pattern,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw std::invalid_argument("tensor map: cuTensorMapEncodeTiled returns " + std::to_string(result));
  return map;
}

}  // namespace lab
#endif

namespace lab {

// The map of a tensor in device memory, and of its box. What a box has outside of the tensor is read as
// zeros, and not written, but for the rest of a row's last 16 bytes. `strides` count elements; the first one
// is 1.
template <class T, std::size_t rank>
tensor_map make_tensor_map(const T* global, const std::int64_t (&sizes)[rank],
                           const std::int64_t (&strides)[rank], const int (&box)[rank],
                           swizzle pattern = swizzle::none) {
  return encode(make_tensor_layout(global, sizes, strides, box, pattern));
}

}  // namespace lab

#if defined(__CUDACC__) && !LAB_EMULATED

extern __shared__ __align__(1024) unsigned char lab_tensor_shared[];

namespace lab {

// dynamic_shared(), aligned to 1024 bytes as tiles of any swizzle are.
template <class T>
__device__ __forceinline__ T* tensor_shared() {
  return reinterpret_cast<T*>(lab_tensor_shared);
}

// Fetches the map itself, which the first copy would have to wait for.
__device__ __forceinline__ void prefetch_tensor_map(const tensor_map& map) {
  LAB_SM90("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// The box whose first element has these coordinates, to shared memory. Completes `barrier` with the bytes of
// the whole box, and does not arrive: barrier.arrive_expect_tx(bytes) does.
__device__ __forceinline__ void tensor_copy_in(void* shared, const tensor_map& map, int x,
                                               mbarrier& barrier) {
  LAB_SM90(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3}], "
      "[%2];" ::"r"(shared_address(shared)),
      "l"(&map), "r"(shared_address(&barrier.state)), "r"(x)
      : "memory");
}
__device__ __forceinline__ void tensor_copy_in(void* shared, const tensor_map& map, int x, int y,
                                               mbarrier& barrier) {
  LAB_SM90(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
      "%4}], [%2];" ::"r"(shared_address(shared)),
      "l"(&map), "r"(shared_address(&barrier.state)), "r"(x), "r"(y)
      : "memory");
}
__device__ __forceinline__ void tensor_copy_in(void* shared, const tensor_map& map, int x, int y, int z,
                                               mbarrier& barrier) {
  LAB_SM90(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
      "%5}], [%2];" ::"r"(shared_address(shared)),
      "l"(&map), "r"(shared_address(&barrier.state)), "r"(x), "r"(y), "r"(z)
      : "memory");
}

// The same to each block of the cluster whose bit is set in `blocks` (multicast), at the same place;
// completes bytes at the barrier of each, which has to expect them.
__device__ __forceinline__ void tensor_copy_in_to_blocks(void* shared, const tensor_map& map, int x, int y,
                                                         mbarrier& barrier, unsigned blocks) {
  LAB_SM90A(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(shared)),
      "l"(&map), "r"(shared_address(&barrier.state)), "r"(x), "r"(y), "h"(static_cast<std::uint16_t>(blocks))
      : "memory");
}

// From shared memory, into the thread's current group: commit_group() and wait_group_read() as for copy_out.
// No coordinate may be negative, and a box begins at a multiple of 16 bytes of a row.
__device__ __forceinline__ void tensor_copy_out(const tensor_map& map, int x, const void* shared) {
  LAB_SM90("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%2}], [%1];" ::"l"(&map),
           "r"(shared_address(shared)), "r"(x)
           : "memory");
}
__device__ __forceinline__ void tensor_copy_out(const tensor_map& map, int x, int y, const void* shared) {
  LAB_SM90("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
           "r"(shared_address(shared)), "r"(x), "r"(y)
           : "memory");
}
__device__ __forceinline__ void tensor_copy_out(const tensor_map& map, int x, int y, int z,
                                                const void* shared) {
  LAB_SM90("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
           "r"(shared_address(shared)), "r"(x), "r"(y), "r"(z)
           : "memory");
}

}  // namespace lab

#endif
