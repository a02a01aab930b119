// More of the CUDA runtime API: what programs use that the lab itself does not. As in runtime_api.hpp,
// everything is done when a call returns.
#pragma once

#include "common/emulator/core/runtime_api.hpp"
#include "common/emulator/programs/launch.hpp"

// ---- device

struct cudaFuncAttributes {
  std::size_t sharedSizeBytes;
  std::size_t constSizeBytes;
  std::size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int ptxVersion;
  int binaryVersion;
  int cacheModeCA;
  int maxDynamicSharedSizeBytes;
  int preferredShmemCarveout;
};

enum cudaFuncCache : int {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3,
};
enum cudaSharedMemConfig : int {
  cudaSharedMemBankSizeDefault = 0,
  cudaSharedMemBankSizeFourByte = 1,
  cudaSharedMemBankSizeEightByte = 2,
};
enum cudaLimit : int {
  cudaLimitStackSize = 0,
  cudaLimitPrintfFifoSize = 1,
  cudaLimitMallocHeapSize = 2,
  cudaLimitDevRuntimeSyncDepth = 3,
  cudaLimitDevRuntimePendingLaunchCount = 4,
  cudaLimitMaxL2FetchGranularity = 5,
  cudaLimitPersistingL2CacheSize = 6,
};
inline constexpr int cudaSharedmemCarveoutDefault = -1;
inline constexpr int cudaSharedmemCarveoutMaxShared = 100;
inline constexpr int cudaSharedmemCarveoutMaxL1 = 0;

inline constexpr unsigned cudaDeviceScheduleAuto = 0;
inline constexpr unsigned cudaDeviceScheduleSpin = 1;
inline constexpr unsigned cudaDeviceScheduleYield = 2;
inline constexpr unsigned cudaDeviceScheduleBlockingSync = 4;
inline constexpr unsigned cudaDeviceBlockingSync = 4;
inline constexpr unsigned cudaDeviceMapHost = 8;
inline constexpr unsigned cudaDeviceLmemResizeToMax = 16;
inline constexpr int cudaCpuDeviceId = -1;
inline constexpr int cudaInvalidDeviceId = -2;

// Nothing is cached and nothing preferred: these are understood and change nothing.
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config);
cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config);
cudaError_t cudaFuncSetSharedMemConfig(const void* kernel, cudaSharedMemConfig config);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceFlags(unsigned* flags);
cudaError_t cudaSetValidDevices(int* devices, int count);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties);
cudaError_t cudaInitDevice(int device, unsigned flags, unsigned more);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id);
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
// The names that CUDA 12 has dropped.
cudaError_t cudaThreadSynchronize();
cudaError_t cudaThreadExit();
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config);

template <class T>
cudaError_t cudaFuncSetCacheConfig(T* kernel, cudaFuncCache config) {
  return cudaFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), config);
}
template <class T>
cudaError_t cudaFuncSetSharedMemConfig(T* kernel, cudaSharedMemConfig config) {
  return cudaFuncSetSharedMemConfig(reinterpret_cast<const void*>(kernel), config);
}

// Registers are not modelled: numRegs is 0. Shared memory is what the kernel declares.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
template <class T>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* kernel) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}

enum cudaDeviceP2PAttr : int {
  cudaDevP2PAttrPerformanceRank = 1,
  cudaDevP2PAttrAccessSupported = 2,
  cudaDevP2PAttrNativeAtomicSupported = 3,
  cudaDevP2PAttrCudaArrayAccessSupported = 4,
};
// Between every two devices there is the same of everything.
inline cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer) {
  const cudaError_t result = cudaDeviceCanAccessPeer(value, device, peer);
  if (attribute == cudaDevP2PAttrPerformanceRank) *value = 0;
  return result;
}

// ---- occupancy

// The largest of the block sizes with which a multiprocessor has most threads. `bytes_of_block` of shared
// memory, by the block's size.
template <class Parameters, class BytesOfBlock>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid_size, int* block_size,
                                                           Parameters* kernel, BytesOfBlock bytes_of_block,
                                                           int block_size_limit = 0) {
  if (grid_size == nullptr || block_size == nullptr) return cudaErrorInvalidValue;
  int multiprocessors = 1, most_threads = 0, device = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  constexpr int largest = static_cast<int>(lab::emulator::block_size_limit);
  const int first = block_size_limit > 0 && block_size_limit < largest ? block_size_limit : largest;
  *grid_size = *block_size = 0;
  for (int size = first; size > 0; size = (size - 1) / warpSize * warpSize) {
    int blocks = 0;
    const cudaError_t result = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel, size, static_cast<std::size_t>(bytes_of_block(size)));
    if (result != cudaSuccess) return result;
    if (blocks * size <= most_threads) continue;
    most_threads = blocks * size;
    *block_size = size;
    *grid_size = blocks * multiprocessors;
  }
  return cudaSuccess;
}
template <class Parameters>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, Parameters* kernel,
                                               std::size_t dynamic_shared_bytes = 0,
                                               int block_size_limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid_size, block_size, kernel, [dynamic_shared_bytes](int) { return dynamic_shared_bytes; },
      block_size_limit);
}
// The most with which so many blocks fit a multiprocessor.
template <class Parameters>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, Parameters* kernel, int blocks,
                                                      int block_size) {
  if (bytes == nullptr || blocks < 1) return cudaErrorInvalidValue;
  constexpr std::size_t step = 128;
  int found = 0;
  for (*bytes = lab::emulator::shared_bytes_limit;; *bytes -= step) {
    const cudaError_t result =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found, kernel, block_size, *bytes);
    if (result != cudaSuccess || found >= blocks || *bytes < step) return result;
  }
}
inline constexpr unsigned cudaOccupancyDefault = 0;
inline constexpr unsigned cudaOccupancyDisableCachingOverride = 1;
template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T* kernel, int block_size,
                                                                   std::size_t dynamic_shared_bytes,
                                                                   unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_size, dynamic_shared_bytes);
}

// With clusters of the shape that the launch's attributes name.
template <class T>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, T* kernel, const cudaLaunchConfig_t* launch) {
  if (clusters == nullptr || launch == nullptr) return cudaErrorInvalidValue;
  unsigned blocks = 1;
  for (unsigned k = 0; k < launch->numAttrs; ++k) {
    const auto& shape = launch->attrs[k].val.clusterDim;
    if (launch->attrs[k].id == cudaLaunchAttributeClusterDimension) blocks = shape.x * shape.y * shape.z;
  }
  int of_one = 0, multiprocessors = 1, device = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const dim3 shape = launch->blockDim;
  const cudaError_t result = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &of_one, kernel, static_cast<int>(shape.x * shape.y * shape.z), launch->dynamicSmemBytes);
  *clusters = blocks == 0 ? 0 : of_one * multiprocessors / static_cast<int>(blocks);
  return result;
}

// ---- managed memory

// Host and kernels read and write it. It lies in device memory, so that accesses are checked and counted.
inline constexpr unsigned cudaMemAttachGlobal = 1;
inline constexpr unsigned cudaMemAttachHost = 2;
inline constexpr unsigned cudaMemAttachSingle = 4;
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags = cudaMemAttachGlobal);
template <class T>
cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes, unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
}

// ---- streams and events

using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* data);
using cudaHostFn_t = void (*)(void* data);

// Of launches by kernels: behind all others of the launching grid; waiting for none.
inline const cudaStream_t cudaStreamTailLaunch = reinterpret_cast<cudaStream_t>(3);
inline const cudaStream_t cudaStreamFireAndForget = reinterpret_cast<cudaStream_t>(4);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
// The work before it is done, so the function is called at once.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
// CUDA's C++ overload of cudaEventCreate has flags.
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned flags = 0);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t bytes = 0,
                                     unsigned flags = cudaMemAttachSingle);
template <class T>
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* pointer, std::size_t bytes = 0,
                                     unsigned flags = cudaMemAttachSingle) {
  return cudaStreamAttachMemAsync(stream, static_cast<void*>(pointer), bytes, flags);
}

// Hints to a cache that is not there.
enum cudaAccessProperty : int {
  cudaAccessPropertyNormal = 0,
  cudaAccessPropertyStreaming = 1,
  cudaAccessPropertyPersisting = 2,
};
struct cudaAccessPolicyWindow {
  void* base_ptr;
  std::size_t num_bytes;
  float hitRatio;
  cudaAccessProperty hitProp, missProp;
};
union cudaStreamAttrValue {
  cudaAccessPolicyWindow accessPolicyWindow;
  int priority;
};
enum cudaStreamAttrID : int {
  cudaStreamAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaStreamAttributePriority = 8,
};
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value);

// ---- memory

inline constexpr unsigned cudaHostAllocDefault = 0;
inline constexpr unsigned cudaHostAllocPortable = 1;
inline constexpr unsigned cudaHostAllocMapped = 2;
inline constexpr unsigned cudaHostAllocWriteCombined = 4;
inline constexpr unsigned cudaHostRegisterDefault = 0;
inline constexpr unsigned cudaHostRegisterPortable = 1;
inline constexpr unsigned cudaHostRegisterMapped = 2;
inline constexpr unsigned cudaHostRegisterIoMemory = 4;
inline constexpr unsigned cudaHostRegisterReadOnly = 8;

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags);
template <class T>
cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
// CUDA's C++ overload of cudaMallocHost has flags.
template <class T>
cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned) {
  return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes);
}

// Rows begin at multiples of 512 bytes.
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width_bytes, std::size_t height);
template <class T>
cudaError_t cudaMallocPitch(T** pointer, std::size_t* pitch, std::size_t width_bytes, std::size_t height) {
  return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width_bytes, height);
}

struct cudaExtent {
  std::size_t width, height, depth;
};
struct cudaPitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
struct cudaPos {
  std::size_t x, y, z;
};
inline cudaExtent make_cudaExtent(std::size_t width, std::size_t height, std::size_t depth) {
  return {width, height, depth};
}
inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, std::size_t pitch, std::size_t width,
                                          std::size_t height) {
  return {pointer, pitch, width, height};
}
inline cudaPos make_cudaPos(std::size_t x, std::size_t y, std::size_t z) {
  return {x, y, z};
}
struct cudaMemcpy3DParms {
  struct cudaArray* srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  struct cudaArray* dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* what);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* what, cudaStream_t stream = nullptr);

cudaError_t cudaMemset2D(void* to, std::size_t pitch, int byte, std::size_t width_bytes, std::size_t height);
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int byte, std::size_t width_bytes,
                              std::size_t height, cudaStream_t stream = nullptr);
cudaError_t cudaMemset3D(cudaPitchedPtr to, int byte, cudaExtent extent);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int byte, cudaExtent extent, cudaStream_t stream = nullptr);

enum cudaMemoryAdvise : int {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly = 2,
  cudaMemAdviseSetPreferredLocation = 3,
  cudaMemAdviseUnsetPreferredLocation = 4,
  cudaMemAdviseSetAccessedBy = 5,
  cudaMemAdviseUnsetAccessedBy = 6,
};
// Hints; both the signatures of CUDA 12 and of CUDA 13.
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, int device);
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location);

// ---- profiler

cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

// ---- launches

namespace lab::emulator {

// cooperative_groups::this_grid().sync(): waits for all threads of the grid.
void wait_for_grid(place where);

// The use of a collective's shared memory (CUB's TempStorage), at the beginning of that memory. Who uses it
// again needs a barrier in between, but for the lanes of a warp: in a block of one warp, or where both are of
// warps.
struct storage_use {
  std::uint64_t epoch;
  place where;
  bool is_of_warps;
};
class collective_use {
 public:
  collective_use(storage_use& storage, bool is_of_warps, place where);
  collective_use(const collective_use&) = delete;
  collective_use& operator=(const collective_use&) = delete;
  ~collective_use();

 private:
  storage_use& storage_;
  bool is_of_warps_;
  place where_;
};

// All threads of the block have met, by no barrier of the block's.
void note_meeting();

// Host code reads and writes device memory in this scope, where a library on a GPU would run kernels of its
// own.
class device_access {
 public:
  device_access();
  device_access(const device_access&) = delete;
  device_access& operator=(const device_access&) = delete;
  ~device_access();
};

struct cooperative_launch {
  // The blocks of such a launch run at the same time, each on an OS thread of its own.
  cooperative_launch(dim3 grid, bool* possible);
  cooperative_launch(const cooperative_launch&) = delete;
  cooperative_launch& operator=(const cooperative_launch&) = delete;
  ~cooperative_launch();
};

template <class... Parameters, std::size_t... Numbers>
cudaError_t launch_with_array(void (*kernel)(Parameters...), const cudaLaunchConfig_t& config,
                              void** arguments, std::index_sequence<Numbers...>) {
  return cudaLaunchKernelEx(&config, kernel,
                            *static_cast<std::remove_cvref_t<Parameters>*>(arguments[Numbers])...);
}

// Launches of a kernel whose address is all that is known of it.
using launch_by_address = cudaError_t (*)(const void* kernel, const cudaLaunchConfig_t& config,
                                          void** arguments);
void know_kernel(const void* kernel, launch_by_address launch);
template <class... Parameters>
bool know_kernel(void (*kernel)(Parameters...)) {
  know_kernel(reinterpret_cast<const void*>(kernel),
              [](const void* address, const cudaLaunchConfig_t& config, void** arguments) {
                return launch_with_array(
                    reinterpret_cast<void (*)(Parameters...)>(reinterpret_cast<std::uintptr_t>(address)),
                    config, arguments, std::index_sequence_for<Parameters...>());
              });
  return true;
}
cudaError_t launch_known_kernel(const void* kernel, const cudaLaunchConfig_t& config, void** arguments);

}  // namespace lab::emulator

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr) {
  return lab::emulator::launch_with_array(kernel, {grid, block, dynamic_shared_bytes, stream}, arguments,
                                          std::index_sequence_for<Parameters...>());
}
template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void** arguments, std::size_t dynamic_shared_bytes = 0,
                                        cudaStream_t stream = nullptr) {
  bool possible = false;
  const lab::emulator::cooperative_launch all_at_once(grid, &possible);
  if (!possible) return cudaErrorCooperativeLaunchTooLarge;
  return cudaLaunchKernel(kernel, grid, block, arguments, dynamic_shared_bytes, stream);
}
inline cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr) {
  return lab::emulator::launch_known_kernel(kernel, {grid, block, dynamic_shared_bytes, stream}, arguments);
}
inline cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                               std::size_t dynamic_shared_bytes = 0,
                                               cudaStream_t stream = nullptr) {
  bool possible = false;
  const lab::emulator::cooperative_launch all_at_once(grid, &possible);
  if (!possible) return cudaErrorCooperativeLaunchTooLarge;
  return cudaLaunchKernel(kernel, grid, block, arguments, dynamic_shared_bytes, stream);
}
template <class... Parameters>
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                                void** arguments) {
  return lab::emulator::launch_with_array(kernel, *config, arguments,
                                          std::index_sequence_for<Parameters...>());
}
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                       void** arguments) {
  return lab::emulator::launch_known_kernel(kernel, *config, arguments);
}
