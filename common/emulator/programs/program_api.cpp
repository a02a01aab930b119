#include "common/emulator/programs/program_api.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "common/emulator/core/built_in_variables.hpp"
#include "common/emulator/core/cluster_functions.hpp"
#include "common/emulator/core/device_memory.hpp"
#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/emulator.hpp"
#include "common/emulator/core/never_destroyed.hpp"
#include "common/emulator/core/observer.hpp"
#include "common/emulator/core/program_symbols.hpp"
#include "common/emulator/core/runtime_call.hpp"
#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/core/stream_listener.hpp"
#include "common/emulator/programs/address_functions.hpp"
#include "common/emulator/programs/device_heap.hpp"
#include "common/emulator/programs/grid_barrier.hpp"
#include "common/emulator/programs/inline_ptx.hpp"
#include "common/emulator/programs/texture.hpp"

using namespace lab::emulator;

namespace {

constexpr std::size_t pitch_alignment = 512;

// Null for a limit that the device does not have.
std::atomic<std::size_t>* limit_of(cudaLimit limit) {
  static std::atomic<std::size_t> printf_bytes{1 << 20}, launches{2048}, fetch{64}, persisting{0};
  switch (limit) {
    case cudaLimitStackSize:
      return &stack_limit;
    case cudaLimitPrintfFifoSize:
      return &printf_bytes;
    case cudaLimitMallocHeapSize:
      return &heap_limit;
    case cudaLimitDevRuntimePendingLaunchCount:
      return &launches;
    case cudaLimitMaxL2FetchGranularity:
      return &fetch;
    case cudaLimitPersistingL2CacheSize:
      return &persisting;
    default:
      return nullptr;
  }
}

cudaError_t accept() {
  return finish(cudaSuccess);
}
cudaError_t accept_device(int device) {
  return finish(device >= 0 && device < device_count() ? cudaSuccess : cudaErrorInvalidDevice);
}

std::size_t pitch_of(std::size_t width_bytes) {
  return (width_bytes + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
}

}  // namespace

namespace lab::emulator::ptx {
static constinit thread_local bool carry_of_thread = false;

bool carry() {
  return carry_of_thread;
}
void set_carry(bool value) {
  carry_of_thread = value;
}

// PTX ISA, "Matrix descriptor": of an address in shared memory there are 18 bits.
matrix_descriptor descriptor_of(std::uint64_t bits, place where) {
  constexpr std::uint64_t window = 1 << 18, in_units_of_16 = 0x3fff;
  const auto bytes = [bits](unsigned shift) {
    return static_cast<int>((bits >> shift & in_units_of_16) << 4);
  };
  if ((bits >> 49 & 7) != 0)
    fail_thread(where, "begins a product whose descriptor has a base offset, which is not emulated");
  const std::uintptr_t shared = thread_local_memory().begin;
  const std::uintptr_t behind =
      reinterpret_cast<std::uintptr_t>(shared_address(static_cast<std::uint32_t>(bytes(0)), where)) - shared;
  constexpr std::array patterns{swizzle::none, swizzle::bytes_128, swizzle::bytes_64, swizzle::bytes_32};
  return {reinterpret_cast<const unsigned char*>(shared + behind % window), patterns[bits >> 62], bytes(16),
          bytes(32)};
}
}  // namespace lab::emulator::ptx

// ---- device

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return accept();
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  *config = cudaFuncCachePreferNone;
  return accept();
}
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) {
  return accept();
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return accept();
}
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  *config = cudaSharedMemBankSizeFourByte;
  return accept();
}
cudaError_t cudaFuncSetSharedMemConfig(const void*, cudaSharedMemConfig) {
  return accept();
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  constexpr std::size_t most_of_a_stack = 512 << 10, most_of_a_heap = std::size_t{1} << 40;
  std::atomic<std::size_t>* const known = limit_of(limit);
  if (known == nullptr) return finish(cudaErrorUnsupportedLimit);
  if ((limit == cudaLimitStackSize && value > most_of_a_stack) || value > most_of_a_heap)
    return finish(cudaErrorInvalidValue);
  *known = value;
  return accept();
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  const std::atomic<std::size_t>* const known = limit_of(limit);
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  if (known == nullptr) return finish(cudaErrorUnsupportedLimit);
  *value = *known;
  return accept();
}
cudaError_t cudaSetDeviceFlags(unsigned) {
  return accept();
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  *flags = cudaDeviceScheduleAuto;
  return accept();
}
cudaError_t cudaSetValidDevices(int*, int) {
  return accept();
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  *device = 0;
  return accept();
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return accept_device(device);
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char*) {
  *device = 0;
  return accept();
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  if (length > 0) std::snprintf(id, static_cast<std::size_t>(length), "0000:00:00.0");
  return accept_device(device);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return accept();
}
cudaError_t cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}
cudaError_t cudaThreadExit() {
  return cudaDeviceReset();
}
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache) {
  return accept();
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  if (attributes == nullptr || kernel == nullptr) return finish(cudaErrorInvalidValue);
  *attributes = {};
  for (const shared_variable& variable : shared_variables(kernel))
    attributes->sharedSizeBytes += variable.bytes;
  attributes->maxThreadsPerBlock = static_cast<int>(block_limit(kernel));
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(shared_bytes_default);
  attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
  return accept();
}

// ---- streams and events

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  *priority = 0;
  return finish(is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  *flags = cudaStreamDefault;
  return finish(is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned) {
  if (callback == nullptr) return finish(cudaErrorInvalidValue);
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  // Whoever it tells knows that what came before it is done.
  active_stream_listener->host_waits_for(stream);
  callback(stream, sticky_error(), data);
  return accept();
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (function == nullptr) return finish(cudaErrorInvalidValue);
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  const auto call = [=] {
    active_stream_listener->host_waits_for(stream);
    if (sticky_error() == cudaSuccess) function(data);
    return cudaSuccess;
  };
  if (!active_graph_capture->capture(stream, call)) call();
  return accept();
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t, unsigned) {
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  return finish(device_memory::instance().is_managed(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}

// ---- memory

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
  const cudaError_t result = cudaMalloc(pointer, bytes);
  if (result != cudaSuccess || *pointer == nullptr) return result;
  device_memory& memory = device_memory::instance();
  memory.set_managed(*pointer);
  // The host's pages come from its system, which clears them; programs count on it.
  const runtime_access access;
  std::memset(*pointer, 0, bytes);
  memory.note_written(*pointer, bytes);
  return result;
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  constexpr unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if ((flags & ~known) != 0) return finish(cudaErrorInvalidValue);
  return cudaMallocHost(pointer, bytes);
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width_bytes, std::size_t height) {
  if (pitch == nullptr) return finish(cudaErrorInvalidValue);
  *pitch = pitch_of(width_bytes);
  return cudaMalloc(pointer, *pitch * height);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  if (pointer == nullptr) return finish(cudaErrorInvalidValue);
  *pointer = {nullptr, pitch_of(extent.width), extent.width, extent.height};
  return cudaMalloc(&pointer->ptr, pointer->pitch * extent.height * extent.depth);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* what) {
  if (what == nullptr) return finish(cudaErrorInvalidValue);
  // Where an array takes part, widths and positions in it are elements, and else bytes.
  const std::size_t element = what->srcArray != nullptr   ? bytes_of_texel(what->srcArray)
                              : what->dstArray != nullptr ? bytes_of_texel(what->dstArray)
                                                          : 1;
  struct side {
    cudaPitchedPtr memory;
    std::size_t unit;  // of positions
  };
  const auto side_of = [&](cudaArray_t array, const cudaPitchedPtr& memory) {
    return array != nullptr ? side{memory_of(array), element} : side{memory, 1};
  };
  const side to = side_of(what->dstArray, what->dstPtr), from = side_of(what->srcArray, what->srcPtr);
  const auto at = [](const side& one, const cudaPos& position, std::size_t layer) {
    return static_cast<char*>(one.memory.ptr) +
           ((position.z + layer) * one.memory.ysize + position.y) * one.memory.pitch + position.x * one.unit;
  };
  for (std::size_t layer = 0; layer < what->extent.depth; ++layer) {
    const cudaError_t result =
        cudaMemcpy2D(at(to, what->dstPos, layer), to.memory.pitch, at(from, what->srcPos, layer),
                     from.memory.pitch, what->extent.width * element, what->extent.height, what->kind);
    if (result != cudaSuccess) return result;
  }
  return accept();
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* what, cudaStream_t stream) {
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  return cudaMemcpy3D(what);
}

cudaError_t cudaMemset2D(void* to, std::size_t pitch, int byte, std::size_t width_bytes, std::size_t height) {
  if (height > 1 && pitch < width_bytes) return finish(cudaErrorInvalidPitchValue);
  for (std::size_t row = 0; row < height; ++row) {
    const cudaError_t result = cudaMemset(static_cast<char*>(to) + row * pitch, byte, width_bytes);
    if (result != cudaSuccess) return result;
  }
  return accept();
}
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int byte, std::size_t width_bytes,
                              std::size_t height, cudaStream_t stream) {
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  return cudaMemset2D(to, pitch, byte, width_bytes, height);
}
cudaError_t cudaMemset3D(cudaPitchedPtr to, int byte, cudaExtent extent) {
  for (std::size_t layer = 0; layer < extent.depth; ++layer) {
    const cudaError_t result = cudaMemset2D(static_cast<char*>(to.ptr) + layer * to.pitch * to.ysize,
                                            to.pitch, byte, extent.width, extent.height);
    if (result != cudaSuccess) return result;
  }
  return accept();
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int byte, cudaExtent extent, cudaStream_t stream) {
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  return cudaMemset3D(to, byte, extent);
}
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t, int device, cudaStream_t stream) {
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  if (device != cudaCpuDeviceId && (device < 0 || device >= device_count()))
    return finish(cudaErrorInvalidDevice);
  return finish(device_memory::instance().is_managed(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location, unsigned,
                                 cudaStream_t stream) {
  return cudaMemPrefetchAsync(
      pointer, bytes, location.type == cudaMemLocationTypeHost ? cudaCpuDeviceId : location.id, stream);
}
cudaError_t cudaMemAdvise(const void* pointer, std::size_t, cudaMemoryAdvise, int) {
  return finish(device_memory::instance().is_managed(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice, cudaMemLocation) {
  return cudaMemAdvise(pointer, bytes, advice, 0);
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID, const cudaStreamAttrValue*) {
  return finish(is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaProfilerStart() {
  return accept();
}
cudaError_t cudaProfilerStop() {
  return accept();
}

// ---- launches

namespace lab::emulator {
namespace {

options before_cooperation;

}  // namespace

cooperative_launch::cooperative_launch(dim3 grid, bool* possible) {
  before_cooperation = configuration();
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  constexpr std::uint64_t most = 128;  // that 4 multiprocessors hold
  if (blocks > most) {
    add_diagnostic_of_call(
        format("a cooperative launch of %llu blocks; the emulator runs %llu at the same time",
               static_cast<unsigned long long>(blocks), static_cast<unsigned long long>(most)));
    *possible = false;
  } else {
    options wanted = before_cooperation;
    wanted.threads = static_cast<int>(blocks);
    configure(wanted);
    *possible = true;
  }
  if (*possible) grid_barrier::instance().begin(static_cast<unsigned>(blocks));
  if (!*possible) finish(cudaErrorCooperativeLaunchTooLarge);
}

cooperative_launch::~cooperative_launch() {
  grid_barrier::instance().begin(0);
  configure(before_cooperation);
}

grid_barrier& grid_barrier::instance() {
  static grid_barrier one;
  return one;
}

void grid_barrier::begin(unsigned blocks) {
  blocks_ = blocks;
  arrived_ = 0;
}

void grid_barrier::wait(place where) {
  if (blocks_ == 0) {
    add_diagnostic(text_of(where) +
                   ": the grid waits for all of its blocks; launch it with cudaLaunchCooperativeKernel");
    trap(where);
  }
  const dim3 cluster = cluster_shape();
  if (cluster.x * cluster.y * cluster.z > 1)
    fail_thread(where, "waits for the grid in a launch of clusters, which is not emulated");
  // The last thread of each block to go on waits for the other blocks, for all of its block.
  wait_at_barrier(false, where);
  if (active_observer != nullptr) {
    if (current_thread.number == 0) wait_for_all_blocks(where);
    wait_at_barrier(false, where);
    return;
  }
  if (current_thread.number == 0) {
    const unsigned round = round_.load();
    if (++arrived_ == blocks_) {
      arrived_ = 0;
      ++round_;
    } else {
      while (round_.load() == round) {
        std::this_thread::yield();
        stop_if_launch_failed();
      }
    }
  }
  fence();
  wait_at_barrier(false, where);
}

namespace {

struct known_kernels {
  std::mutex mutex;
  std::map<const void*, launch_by_address> all;
};
known_kernels& kernels_by_address() {
  static never_destroyed<known_kernels> known;
  return *known;
}

}  // namespace

void know_kernel(const void* kernel, launch_by_address launch) {
  known_kernels& known = kernels_by_address();
  const std::lock_guard lock(known.mutex);
  known.all[kernel] = launch;
}

cudaError_t launch_known_kernel(const void* kernel, const cudaLaunchConfig_t& config, void** arguments) {
  known_kernels& known = kernels_by_address();
  std::unique_lock lock(known.mutex);
  const auto found = known.all.find(kernel);
  const launch_by_address launch = found == known.all.end() ? nullptr : found->second;
  lock.unlock();
  if (launch != nullptr) return launch(kernel, config, arguments);
  add_diagnostic_of_call(
      "cudaLaunchKernel: the parameters of the kernel at this address are not known; give the kernel itself, "
      "or launch it with <<<>>>");
  return finish(cudaErrorInvalidDeviceFunction);
}

void wait_for_grid(place where) {
  grid_barrier::instance().wait(where);
}

void refuse_beyond(const char* name, const void* array, std::size_t bytes, const void* element, place where) {
  if (!inside_kernel() || !is_shared_address(array)) return;
  fail_thread(where, format("accesses the shared array %s at offset %td of its %zu bytes", name,
                            static_cast<const char*>(element) - static_cast<const char*>(array), bytes));
}
void check_within(const char* name, const void* array, std::size_t bytes, const void* element,
                  std::size_t element_bytes, place where) {
  if (reinterpret_cast<std::uintptr_t>(element) - reinterpret_cast<std::uintptr_t>(array) >
      bytes - element_bytes)
    refuse_beyond(name, array, bytes, element, where);
}

namespace {
// Whose lanes meet as they exchange values.
bool is_one_warp() {
  return current_block_size.x * current_block_size.y * current_block_size.z <= 32;
}
}  // namespace

collective_use::collective_use(storage_use& storage, bool is_of_warps, place where)
    : storage_(storage), is_of_warps_(is_of_warps), where_(where) {
  if (is_one_warp() || storage.epoch != barrier_epoch || (is_of_warps && storage.is_of_warps)) return;
  fail_thread(where, "uses a TempStorage that the collective at " + text_of(storage.where) +
                         " has used, with no __syncthreads() between");
}
collective_use::~collective_use() {
  if (is_one_warp() && !is_of_warps_) wait_at_barrier(false, where_);
  storage_ = {barrier_epoch, where_, is_of_warps_};
}

void note_meeting() {
  ++barrier_epoch;
}

bool is_shared_address(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const thread_local_range shared = thread_local_memory();
  return address - shared.begin < shared.bytes;
}
bool is_local_address(const void* pointer) {
  return inside_kernel() && is_on_another_stack(reinterpret_cast<std::uintptr_t>(pointer));
}
bool is_global_address(const void* pointer) {
  return !is_shared_address(pointer) && !is_local_address(pointer);
}

device_access::device_access() {
  active_stream_listener->host_waits_for_all();
  if (!inside_kernel()) device_memory::instance().lift_protection(device_memory::writes::anywhere);
}
device_access::~device_access() {
  if (inside_kernel()) return;
  device_memory::instance().restore_protection(device_memory::writes::anywhere);
  device_memory::instance().note_all_written();
}

void assertion_failed(const char* assertion, const char* file, unsigned line, const char* function) {
  fail_assertion(assertion, file, line);  // returns outside of kernels
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
  std::abort();
}

}  // namespace lab::emulator
