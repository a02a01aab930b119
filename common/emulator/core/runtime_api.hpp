// The part of the CUDA runtime API that kernels' programs use, under CUDA's own names. Everything is done
// when the call returns, unless somebody has asked for more (deferred_streams.hpp); streams and events keep
// CUDA's rules.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "common/emulator/core/dialect.hpp"

#define CUDART_VERSION 13000

// Each error, its number and what cudaGetErrorString() says of it.
#define LAB_CUDA_ERRORS(X)                                                                                   \
  X(cudaSuccess, 0, "no error")                                                                              \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                            \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                           \
  X(cudaErrorInitializationError, 3, "initialization error")                                                 \
  X(cudaErrorCudartUnloading, 4, "driver shutting down")                                                     \
  X(cudaErrorProfilerDisabled, 5, "profiler disabled while using external profiling tool")                   \
  X(cudaErrorProfilerNotInitialized, 6, "profiler not initialized: call cudaProfilerInitialize()")           \
  X(cudaErrorProfilerAlreadyStarted, 7, "profiler already started")                                          \
  X(cudaErrorProfilerAlreadyStopped, 8, "profiler already stopped")                                          \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                      \
  X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                                \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                     \
  X(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                                 \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                             \
  X(cudaErrorInvalidTexture, 18, "invalid texture reference")                                                \
  X(cudaErrorInvalidTextureBinding, 19, "texture is not bound to a pointer")                                 \
  X(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                                     \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                \
  X(cudaErrorAddressOfConstant, 22, "invalid address of constant")                                           \
  X(cudaErrorTextureFetchFailed, 23, "fetch from texture failed")                                            \
  X(cudaErrorTextureNotBound, 24, "cannot fetch from a texture that is not bound")                           \
  X(cudaErrorSynchronizationError, 25, "incorrect use of __syncthreads()")                                   \
  X(cudaErrorInvalidFilterSetting, 26, "linear filtering not supported for non-float type")                  \
  X(cudaErrorInvalidNormSetting, 27, "read as normalized float not supported for 32-bit non float type")     \
  X(cudaErrorMixedDeviceExecution, 28, "device emulation mode and device execution mode cannot be mixed")    \
  X(cudaErrorNotYetImplemented, 31, "feature not yet implemented")                                           \
  X(cudaErrorMemoryValueTooLarge, 32, "memory size or pointer value too large to fit in 32 bit")             \
  X(cudaErrorStubLibrary, 34, "CUDA driver is a stub library")                                               \
  X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")         \
  X(cudaErrorCallRequiresNewerDriver, 36, "API call is not supported in the installed CUDA driver")          \
  X(cudaErrorInvalidSurface, 37, "invalid surface reference")                                                \
  X(cudaErrorDuplicateVariableName, 43, "duplicate global variable looked up by string name")                \
  X(cudaErrorDuplicateTextureName, 44, "duplicate texture looked up by string name")                         \
  X(cudaErrorDuplicateSurfaceName, 45, "duplicate surface looked up by string name")                         \
  X(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")                    \
  X(cudaErrorIncompatibleDriverContext, 49, "incompatible driver context")                                   \
  X(cudaErrorMissingConfiguration, 52, "missing configuration")                                              \
  X(cudaErrorPriorLaunchFailure, 53, "unspecified launch failure in prior launch")                           \
  X(cudaErrorLaunchMaxDepthExceeded, 65, "launch would exceed maximum depth of nested launches")             \
  X(cudaErrorLaunchFileScopedTex, 66,                                                                        \
    "launch failed because kernel uses unsupported, file-scoped textures (texture object API required)")     \
  X(cudaErrorLaunchFileScopedSurf, 67,                                                                       \
    "launch failed because kernel uses unsupported, file-scoped surfaces (surface object API required)")     \
  X(cudaErrorSyncDepthExceeded, 68,                                                                          \
    "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth")         \
  X(cudaErrorLaunchPendingCountExceeded, 69,                                                                 \
    "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount")                       \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                           \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                            \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                   \
  X(cudaErrorDeviceNotLicensed, 102, "device doesn't have valid Grid license")                               \
  X(cudaErrorSoftwareValidityNotEstablished, 103, "integrity checks failed")                                 \
  X(cudaErrorStartupFailure, 127, "startup failure in cuda runtime")                                         \
  X(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                                      \
  X(cudaErrorDeviceUninitialized, 201, "invalid device context")                                             \
  X(cudaErrorMapBufferObjectFailed, 205, "mapping of buffer object failed")                                  \
  X(cudaErrorUnmapBufferObjectFailed, 206, "unmapping of buffer object failed")                              \
  X(cudaErrorArrayIsMapped, 207, "array is mapped")                                                          \
  X(cudaErrorAlreadyMapped, 208, "resource already mapped")                                                  \
  X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")        \
  X(cudaErrorAlreadyAcquired, 210, "resource already acquired")                                              \
  X(cudaErrorNotMapped, 211, "resource not mapped")                                                          \
  X(cudaErrorNotMappedAsArray, 212, "resource not mapped as array")                                          \
  X(cudaErrorNotMappedAsPointer, 213, "resource not mapped as pointer")                                      \
  X(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                   \
  X(cudaErrorUnsupportedLimit, 215, "limit is not supported on this architecture")                           \
  X(cudaErrorDeviceAlreadyInUse, 216, "exclusive-thread device already in use by a different thread")        \
  X(cudaErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices")           \
  X(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                                \
  X(cudaErrorInvalidGraphicsContext, 219, "invalid OpenGL or DirectX context")                               \
  X(cudaErrorNvlinkUncorrectable, 220, "uncorrectable NVLink error detected during the execution")           \
  X(cudaErrorJitCompilerNotFound, 221, "PTX JIT compiler library not found")                                 \
  X(cudaErrorUnsupportedPtxVersion, 222, "the provided PTX was compiled with an unsupported toolchain.")     \
  X(cudaErrorJitCompilationDisabled, 223, "PTX JIT compilation was disabled")                                \
  X(cudaErrorInvalidSource, 300, "device kernel image is invalid")                                           \
  X(cudaErrorFileNotFound, 301, "file not found")                                                            \
  X(cudaErrorSharedObjectSymbolNotFound, 302, "shared object symbol not found")                              \
  X(cudaErrorSharedObjectInitFailed, 303, "shared object initialization failed")                             \
  X(cudaErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")                   \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                          \
  X(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")                    \
  X(cudaErrorSymbolNotFound, 500, "named symbol not found")                                                  \
  X(cudaErrorNotReady, 600, "device not ready")                                                              \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                                \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                           \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                  \
  X(cudaErrorLaunchIncompatibleTexturing, 703, "launch uses incompatible texturing mode")                    \
  X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                                \
  X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                                  \
  X(cudaErrorSetOnActiveProcess, 708, "cannot set while device is active in this process")                   \
  X(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                                \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                                    \
  X(cudaErrorTooManyPeers, 711, "peer mapping resources exhausted")                                          \
  X(cudaErrorHostMemoryAlreadyRegistered, 712,                                                               \
    "part or all of the requested memory range is already mapped")                                           \
  X(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")      \
  X(cudaErrorHardwareStackError, 714, "hardware stack error")                                                \
  X(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                              \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                                   \
  X(cudaErrorInvalidClusterSize, 912, "cluster misconfiguration")                                            \
  X(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space")             \
  X(cudaErrorInvalidPc, 718, "invalid program counter")                                                      \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                               \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                        \
  X(cudaErrorNotPermitted, 800, "operation not permitted")                                                   \
  X(cudaErrorNotSupported, 801, "operation not supported")                                                   \
  X(cudaErrorSystemNotReady, 802, "system not yet initialized")                                              \
  X(cudaErrorSystemDriverMismatch, 803, "system has unsupported display driver / cuda driver combination")   \
  X(cudaErrorCompatNotSupportedOnDevice, 804, "forward compatibility was attempted on non supported HW")     \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")              \
  X(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")       \
  X(cudaErrorStreamCaptureMerge, 902, "operation would result in a merge of separate capture sequences")     \
  X(cudaErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began")            \
  X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                               \
  X(cudaErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")         \
  X(cudaErrorStreamCaptureImplicit, 906,                                                                     \
    "operation would make the legacy stream depend on a capturing blocking stream")                          \
  X(cudaErrorCapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream")  \
  X(cudaErrorStreamCaptureWrongThread, 908,                                                                  \
    "attempt to terminate a thread-local capture sequence from another thread")                              \
  X(cudaErrorTimeout, 909, "wait operation timed out")                                                       \
  X(cudaErrorGraphExecUpdateFailure, 910,                                                                    \
    "the graph update was not performed because it included changes which violated constraints specific to " \
    "instantiated graph update")                                                                             \
  X(cudaErrorUnknown, 999, "unknown error")                                                                  \
  X(cudaErrorApiFailureBase, 10000, "unknown error")

// The enumerations have a type, so that they may hold values without a name, as CUDA's do in practice.
#define LAB_ENUMERATOR(NAME, NUMBER, ...) NAME = NUMBER,
enum cudaError_t : int { LAB_CUDA_ERRORS(LAB_ENUMERATOR) };
using cudaError = cudaError_t;

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
// The last error of this host thread; Get forgets it, Peek does not. A kernel's failure is never forgotten:
// only lab::emulator::reset() clears it.
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

// ---- device

// Each attribute, its number and its value; that of one which describes speed, a bus or a cache is 0.
#define LAB_DEVICE_ATTRIBUTES(X)                                                                  \
  X(cudaDevAttrMaxThreadsPerBlock, 1, static_cast<int>(block_size_limit))                         \
  X(cudaDevAttrMaxBlockDimX, 2, 1024)                                                             \
  X(cudaDevAttrMaxBlockDimY, 3, 1024)                                                             \
  X(cudaDevAttrMaxBlockDimZ, 4, 64)                                                               \
  X(cudaDevAttrMaxGridDimX, 5, 0x7fffffff)                                                        \
  X(cudaDevAttrMaxGridDimY, 6, 65535)                                                             \
  X(cudaDevAttrMaxGridDimZ, 7, 65535)                                                             \
  X(cudaDevAttrMaxSharedMemoryPerBlock, 8, static_cast<int>(shared_bytes_default))                \
  X(cudaDevAttrTotalConstantMemory, 9, 64 * 1024)                                                 \
  X(cudaDevAttrWarpSize, 10, warpSize)                                                            \
  X(cudaDevAttrMaxPitch, 11, 0x7fffffff)                                                          \
  X(cudaDevAttrMaxRegistersPerBlock, 12, 64 * 1024)                                               \
  X(cudaDevAttrClockRate, 13, 0)                                                                  \
  X(cudaDevAttrTextureAlignment, 14, 512)                                                         \
  X(cudaDevAttrGpuOverlap, 15, 1)                                                                 \
  X(cudaDevAttrMultiProcessorCount, 16, configuration().multiprocessors)                          \
  X(cudaDevAttrKernelExecTimeout, 17, 0)                                                          \
  X(cudaDevAttrIntegrated, 18, 0)                                                                 \
  X(cudaDevAttrCanMapHostMemory, 19, 1)                                                           \
  X(cudaDevAttrComputeMode, 20, 0)                                                                \
  X(cudaDevAttrMaxTexture1DWidth, 21, 131072)                                                     \
  X(cudaDevAttrMaxTexture2DWidth, 22, 131072)                                                     \
  X(cudaDevAttrMaxTexture2DHeight, 23, 65536)                                                     \
  X(cudaDevAttrMaxTexture3DWidth, 24, 16384)                                                      \
  X(cudaDevAttrMaxTexture3DHeight, 25, 16384)                                                     \
  X(cudaDevAttrMaxTexture3DDepth, 26, 16384)                                                      \
  X(cudaDevAttrSurfaceAlignment, 30, 512)                                                         \
  X(cudaDevAttrConcurrentKernels, 31, 1)                                                          \
  X(cudaDevAttrEccEnabled, 32, 0)                                                                 \
  X(cudaDevAttrPciBusId, 33, 0)                                                                   \
  X(cudaDevAttrPciDeviceId, 34, 0)                                                                \
  X(cudaDevAttrTccDriver, 35, 0)                                                                  \
  X(cudaDevAttrMemoryClockRate, 36, 0)                                                            \
  X(cudaDevAttrGlobalMemoryBusWidth, 37, 0)                                                       \
  X(cudaDevAttrL2CacheSize, 38, l2_bytes)                                                         \
  X(cudaDevAttrMaxThreadsPerMultiProcessor, 39, 2048)                                             \
  X(cudaDevAttrAsyncEngineCount, 40, 1)                                                           \
  X(cudaDevAttrUnifiedAddressing, 41, 1)                                                          \
  X(cudaDevAttrMaxTexture1DLayeredWidth, 42, 32768)                                               \
  X(cudaDevAttrMaxTexture1DLayeredLayers, 43, 2048)                                               \
  X(cudaDevAttrPciDomainId, 50, 0)                                                                \
  X(cudaDevAttrTexturePitchAlignment, 51, 32)                                                     \
  X(cudaDevAttrComputeCapabilityMajor, 75, 9)                                                     \
  X(cudaDevAttrComputeCapabilityMinor, 76, 0)                                                     \
  X(cudaDevAttrStreamPrioritiesSupported, 78, 1)                                                  \
  X(cudaDevAttrGlobalL1CacheSupported, 79, 0)                                                     \
  X(cudaDevAttrLocalL1CacheSupported, 80, 0)                                                      \
  X(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, static_cast<int>(shared_bytes_limit) + 1024) \
  X(cudaDevAttrMaxRegistersPerMultiprocessor, 82, 64 * 1024)                                      \
  X(cudaDevAttrManagedMemory, 83, 1)                                                              \
  X(cudaDevAttrIsMultiGpuBoard, 84, 0)                                                            \
  X(cudaDevAttrMultiGpuBoardGroupID, 85, 0)                                                       \
  X(cudaDevAttrHostNativeAtomicSupported, 86, 0)                                                  \
  X(cudaDevAttrSingleToDoublePrecisionPerfRatio, 87, 0)                                           \
  X(cudaDevAttrPageableMemoryAccess, 88, 0)                                                       \
  X(cudaDevAttrConcurrentManagedAccess, 89, 1)                                                    \
  X(cudaDevAttrComputePreemptionSupported, 90, 0)                                                 \
  X(cudaDevAttrCanUseHostPointerForRegisteredMem, 91, 1)                                          \
  X(cudaDevAttrCooperativeLaunch, 95, 1)                                                          \
  X(cudaDevAttrCooperativeMultiDeviceLaunch, 96, 0)                                               \
  X(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, static_cast<int>(shared_bytes_limit))            \
  X(cudaDevAttrCanFlushRemoteWrites, 98, 0)                                                       \
  X(cudaDevAttrHostRegisterSupported, 99, 1)                                                      \
  X(cudaDevAttrPageableMemoryAccessUsesHostPageTables, 100, 0)                                    \
  X(cudaDevAttrDirectManagedMemAccessFromHost, 101, 0)                                            \
  X(cudaDevAttrMaxBlocksPerMultiprocessor, 106, 1)                                                \
  X(cudaDevAttrMaxPersistingL2CacheSize, 108, 0)                                                  \
  X(cudaDevAttrMaxAccessPolicyWindowSize, 109, 0)                                                 \
  X(cudaDevAttrReservedSharedMemoryPerBlock, 111, 0)                                              \
  X(cudaDevAttrSparseCudaArraySupported, 112, 0)                                                  \
  X(cudaDevAttrHostRegisterReadOnlySupported, 113, 0)                                             \
  X(cudaDevAttrTimelineSemaphoreInteropSupported, 114, 0)                                         \
  X(cudaDevAttrMemoryPoolsSupported, 115, 1)

enum cudaDeviceAttr : int { LAB_DEVICE_ATTRIBUTES(LAB_ENUMERATOR) };
#undef LAB_ENUMERATOR

enum cudaComputeMode : int {
  cudaComputeModeDefault = 0,
  cudaComputeModeExclusive = 1,
  cudaComputeModeProhibited = 2,
  cudaComputeModeExclusiveProcess = 3,
};

struct cudaUUID_t {
  char bytes[16];
};

// What describes speed is 0. clockRate and its like are CUDA 12's, for programs that still print them.
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  std::size_t totalConstMem;
  int major;
  int minor;
  std::size_t textureAlignment;
  std::size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int maxTexture1D;
  int maxTexture1DLayered[2];
  int maxTexture2D[2];
  int maxTexture2DLayered[3];
  int maxTexture3D[3];
  std::size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
};

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceSynchronize();
// Ends nothing: allocations stay, and so does the error that a failed kernel has left.
cudaError_t cudaDeviceReset();
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaCtxResetPersistingL2Cache();

// Kernels of the current device may touch what cudaMalloc() gave on `peer`. Every two devices can.
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);

// ---- streams and events

using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;

// The default stream under its two other names.
inline const cudaStream_t cudaStreamLegacy = reinterpret_cast<cudaStream_t>(1);
inline const cudaStream_t cudaStreamPerThread = reinterpret_cast<cudaStream_t>(2);
inline constexpr unsigned cudaStreamDefault = 0;
inline constexpr unsigned cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDefault = 0;
inline constexpr unsigned cudaEventBlockingSync = 1;
inline constexpr unsigned cudaEventDisableTiming = 2;
inline constexpr unsigned cudaEventInterprocess = 4;
inline constexpr unsigned cudaEventRecordDefault = 0;
inline constexpr unsigned cudaEventWaitDefault = 0;

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
// Milliseconds of the host's clock: how long the emulation took, which says nothing about a GPU.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);

// ---- memory

enum cudaMemcpyKind : int {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};

enum cudaMemAllocationType : int { cudaMemAllocationTypePinned = 1 };
enum cudaMemAllocationHandleType : int { cudaMemHandleTypeNone = 0 };
enum cudaMemLocationType : int {
  cudaMemLocationTypeInvalid = 0,
  cudaMemLocationTypeDevice = 1,
  cudaMemLocationTypeHost = 2,
};

struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};

struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;
  cudaMemLocation location;
};

enum cudaMemPoolAttr : int {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrUsedMemCurrent = 7,
};

using cudaMemPool_t = struct CUmemPoolHandle_st*;

cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes);
cudaError_t cudaFreeHost(void* pointer);
// Page-locked memory has the same address on the device.
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned flags) {
  return cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}

enum cudaMemoryType : int {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3,
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes);

// Pools hold no memory of their own here; their attributes are kept and change nothing.
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes_to_keep);
// Which devices' kernels may touch what comes from the pool: its own always may. Peer access says nothing
// here.
enum cudaMemAccessFlags : int {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3,
};
struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
};
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, std::size_t count);

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width_bytes, std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width_bytes, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr);
// Between the memory of two devices, which need no access to each other for it.
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* to, int byte, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream = nullptr);

template <class T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(const_cast<std::remove_cv_t<T>**>(pointer)), bytes);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}
template <class T>
cudaError_t cudaMallocFromPoolAsync(T** pointer, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(reinterpret_cast<void**>(pointer), bytes, pool, stream);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, std::size_t bytes) {
  return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes);
}

namespace lab::emulator {
struct symbol_copy {
  const char* function;
  std::size_t bytes;
  std::size_t offset;
  std::size_t symbol_bytes;
  cudaStream_t stream = nullptr;
  bool waits = true;
};
cudaError_t copy_symbol(void* to, const void* from, const symbol_copy& what);
cudaError_t register_symbol(void* symbol, std::size_t bytes);
}  // namespace lab::emulator

// A __device__ or __constant__ variable is an ordinary global variable here.
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
  void* const to = const_cast<std::remove_cv_t<T>*>(&symbol);
  return lab::emulator::copy_symbol(static_cast<std::byte*>(to) + offset, from,
                                    {"cudaMemcpyToSymbol", bytes, offset, sizeof(T)});
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                                    cudaMemcpyKind = cudaMemcpyHostToDevice, cudaStream_t stream = nullptr) {
  void* const to = const_cast<std::remove_cv_t<T>*>(&symbol);
  return lab::emulator::copy_symbol(static_cast<std::byte*>(to) + offset, from,
                                    {"cudaMemcpyToSymbolAsync", bytes, offset, sizeof(T), stream, false});
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  const void* const from = &symbol;
  return lab::emulator::copy_symbol(to, static_cast<const std::byte*>(from) + offset,
                                    {"cudaMemcpyFromSymbol", bytes, offset, sizeof(T)});
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                      cudaMemcpyKind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr) {
  const void* const from = &symbol;
  return lab::emulator::copy_symbol(to, static_cast<const std::byte*>(from) + offset,
                                    {"cudaMemcpyFromSymbolAsync", bytes, offset, sizeof(T), stream, false});
}
template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T&) {
  *bytes = sizeof(T);
  return cudaSuccess;
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, T& symbol) {
  *address = const_cast<std::remove_cv_t<T>*>(&symbol);
  return lab::emulator::register_symbol(*address, sizeof(T));
}
template <class P, class T>
cudaError_t cudaGetSymbolAddress(P** address, T& symbol) {
  return cudaGetSymbolAddress(reinterpret_cast<void**>(address), symbol);
}

// ---- kernels

enum cudaFuncAttribute : int {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
};

// A launch that carries an attribute which is not among these is refused.
enum cudaLaunchAttributeID : int {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
};
union cudaLaunchAttributeValue {
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
template <class T>
cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

// By threads, blocks and shared memory of one like an H100's: a kernel's registers are not known.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_size,
                                                          std::size_t dynamic_shared_bytes);
template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T* kernel, int block_size,
                                                          std::size_t dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void*>(kernel),
                                                       block_size, dynamic_shared_bytes);
}

namespace lab::emulator {

// A kernel with its arguments, without their types: run(arguments) runs one thread of it.
struct kernel_call {
  const void* kernel;
  void (*run)(const void* arguments);
  const void* arguments;
  std::size_t argument_bytes;
  const void* const* pointers;  // the arguments in their order; null for one that is no pointer to an object
  std::size_t pointer_count;
  // Of the blocks that run together. Not given: what the launch's attributes or __cluster_dims__ say.
  std::optional<dim3> cluster = std::nullopt;
};

template <class T>
const void* object_address([[maybe_unused]] const T& argument) {
  if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
    return const_cast<const void*>(static_cast<const volatile void*>(argument));
  } else {
    return nullptr;
  }
}

cudaError_t launch(const cudaLaunchConfig_t& config, const kernel_call& call);

// The most threads of a block that the kernel's __launch_bounds__() allows.
void set_block_limit(const void* kernel, std::size_t threads);
// Without such bounds, what the device allows.
std::size_t block_limit(const void* kernel);

}  // namespace lab::emulator

// Runs the whole grid before it returns. A kernel that fails makes it return cudaErrorLaunchFailure at once,
// where CUDA would tell at the next synchronisation.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "one argument for each kernel parameter");
  struct bound_kernel {
    void (*kernel)(Parameters...);
    std::tuple<std::remove_cv_t<Parameters>...> arguments;
  };
  bound_kernel bound{kernel, {static_cast<Parameters>(std::forward<Arguments>(arguments))...}};
#if __has_builtin(__builtin_clear_padding)
  // What lies between the members may be a pointer of an earlier call's; observation looks for those of this.
  __builtin_clear_padding(&bound);
#endif
  const auto run_thread = [](const void* opaque) {
    const auto& self = *static_cast<const bound_kernel*>(opaque);
    std::apply(self.kernel, self.arguments);
  };
  const auto addresses = std::apply(
      [](const auto&... each) {
        return std::array<const void*, sizeof...(Parameters) + 1>{lab::emulator::object_address(each)...,
                                                                  nullptr};
      },
      bound.arguments);
  return lab::emulator::launch(*config, {reinterpret_cast<const void*>(kernel), run_thread, &bound,
                                         sizeof bound, addresses.data(), sizeof...(Parameters)});
}
