#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/emulator/core/call_trace.hpp"
#include "common/emulator/core/deferred_streams.hpp"
#include "common/emulator/core/device_memory.hpp"
#include "common/emulator/core/devices.hpp"
#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/emulator.hpp"
#include "common/emulator/core/kernel_launches.hpp"
#include "common/emulator/core/never_destroyed.hpp"
#include "common/emulator/core/runtime_api.hpp"
#include "common/emulator/core/runtime_call.hpp"
#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/core/stream_listener.hpp"

struct CUstream_st {
  int device;
};

struct CUevent_st {
  int device;
  bool timed;
  std::optional<std::chrono::steady_clock::time_point> recorded;
};

struct CUmemPoolHandle_st {
  int device = 0;
  unsigned long long release_threshold = 0;
  int reuse[3] = {1, 1, 1};
};

namespace lab::emulator {
namespace {

constexpr int default_threads_limit =
    16;  // each keeps stacks for 1024 threads: address space and memory maps add up
constexpr int l2_bytes = 4 << 20;
// What the environment may ask for.
constexpr std::uint64_t max_threads = 256;
constexpr std::uint64_t max_multiprocessors = 1024;

// ---- options

std::mutex options_mutex;

options normalised(options wanted) {
  if (wanted.threads <= 0) {
    wanted.threads =
        std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, default_threads_limit);
  }
  if (wanted.multiprocessors <= 0) wanted.multiprocessors = default_multiprocessors;
  wanted.devices = std::clamp(wanted.devices, 1, max_devices);
  return wanted;
}

options& current_options() {
  static options current = [] {
    const options initial = normalised(options_from_environment());
    device_memory::instance().set_capacity(initial.memory_bytes);
    return initial;
  }();
  return current;
}

device_memory& memory() {
  configuration();  // the capacity may come from the environment
  return device_memory::instance();
}

// ---- errors

std::atomic<cudaError_t> sticky{cudaSuccess};
constinit thread_local cudaError_t last_error = cudaSuccess;

// ---- handles: streams, events, pools and page-locked memory that exist now

template <class Handle>
class handle_set {
 public:
  Handle add(Handle handle) {
    const std::lock_guard lock(mutex_);
    handles_.insert(handle);
    return handle;
  }
  bool contains(Handle handle) {
    const std::lock_guard lock(mutex_);
    return handles_.contains(handle);
  }
  bool remove(Handle handle) {
    const std::lock_guard lock(mutex_);
    return handles_.erase(handle) != 0;
  }

 private:
  std::mutex mutex_;
  std::set<Handle> handles_;
};

[[gnu::init_priority(101)]] never_destroyed<handle_set<cudaStream_t>> streams;
[[gnu::init_priority(101)]] never_destroyed<handle_set<cudaEvent_t>> events;
[[gnu::init_priority(101)]] never_destroyed<handle_set<cudaMemPool_t>> pools;

// Ranges of page-locked memory by their beginnings.
class range_set {
 public:
  void add(void* begin, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    ranges_[reinterpret_cast<std::uintptr_t>(begin)] = bytes;
    is_empty_ = false;
  }
  bool remove(void* begin) {
    if (is_empty_) return false;
    const std::lock_guard lock(mutex_);
    return ranges_.erase(reinterpret_cast<std::uintptr_t>(begin)) != 0;
  }
  bool contains(const void* begin, std::size_t bytes) {
    if (is_empty_) return false;
    const std::lock_guard lock(mutex_);
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) return false;
    const auto& [first, size] = *std::prev(after);
    return address - first <= size && bytes <= size - (address - first);
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> is_empty_{true};
  std::map<std::uintptr_t, std::size_t> ranges_;
};

[[gnu::init_priority(101)]] never_destroyed<range_set> host_allocations;   // of cudaMallocHost
[[gnu::init_priority(101)]] never_destroyed<range_set> registered_memory;  // of cudaHostRegister

bool is_pinned(const void* pointer, std::size_t bytes) {
  return host_allocations->contains(pointer, bytes) || registered_memory->contains(pointer, bytes);
}

std::array<CUmemPoolHandle_st, max_devices> default_pools;

bool is_pool_attribute(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolAttrReleaseThreshold;
}

bool is_pool(cudaMemPool_t pool) {
  return (pool >= default_pools.data() && pool < default_pools.data() + default_pools.size()) ||
         pools->contains(pool);
}

template <class Handle>
cudaError_t destroy(handle_set<Handle>& set, Handle handle) {
  if (!set.remove(handle)) return finish(cudaErrorInvalidResourceHandle);
  delete handle;
  return finish(cudaSuccess);
}

// What a function that waits for the stream answers.
cudaError_t waited_for(cudaStream_t stream) {
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  active_stream_listener->host_waits_for(stream);
  if (stream == nullptr) {
    complete_all();
  } else {
    complete(stream);
  }
  return finish(cudaSuccess);
}

cudaError_t on_stream(cudaStream_t stream) {
  return finish(is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

// ---- allocation and copies

cudaError_t allocate(void** pointer, std::size_t bytes, int device, cudaMemPool_t pool = nullptr) {
  if (pointer == nullptr) return finish(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (sticky_error() != cudaSuccess || bytes == 0) return finish(cudaSuccess);
  const runtime_access access;
  *pointer = memory().allocate(bytes, device, pool);
  return finish(*pointer != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}

// Frees even after a kernel has failed, so that nothing is lost when reset() makes the device usable again.
cudaError_t release(void* pointer, const char* function) {
  const runtime_access access;
  if (pointer == nullptr) return finish(cudaSuccess);
  if (memory().release(pointer)) return finish(cudaSuccess);
  add_diagnostic_of_call(
      format("%s: %p is not the beginning of an allocation (freed twice?)", function, pointer));
  return finish(cudaErrorInvalidValue);
}

enum class side { host, device, either };

// Whether [pointer, pointer + bytes) is memory of that side; says why not.
bool usable(const char* function, const char* role, const void* pointer, std::size_t bytes, side wanted) {
  const bool on_device = memory().owns(pointer);
  std::optional<std::string> wrong;
  if (pointer == nullptr) {
    wrong = "is null";
  } else if (memory().is_managed(pointer)) {
    wrong = memory().complaint(pointer, bytes);  // managed memory is on either side
  } else if (wanted == side::device && !on_device && is_pinned(pointer, bytes)) {
    // Page-locked memory has an address on the device as well, the same one.
  } else if (wanted == side::device && !on_device) {
    wrong = "is not device memory";
  } else if (wanted == side::host && on_device) {
    wrong = "is device memory, where host memory was announced";
  } else if (on_device) {
    wrong = memory().complaint(pointer, bytes);
  }
  if (wrong) add_diagnostic_of_call(format("%s: the %s %s", function, role, wrong->c_str()));
  return !wrong;
}

std::pair<side, side> sides_of(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return {side::host, side::host};
    case cudaMemcpyHostToDevice:
      return {side::device, side::host};
    case cudaMemcpyDeviceToHost:
      return {side::host, side::device};
    case cudaMemcpyDeviceToDevice:
      return {side::device, side::device};
    case cudaMemcpyDefault:
      break;
  }
  return {side::either, side::either};
}

struct rows {
  void* to;
  std::size_t to_pitch;
  const void* from;
  std::size_t from_pitch;
  std::size_t width;
  std::size_t height;
};

void move_rows(const rows& what) {
  if (sticky_error() != cudaSuccess) return;
  const runtime_access access;
  for (std::size_t row = 0; row < what.height; ++row) {
    char* const to = static_cast<char*>(what.to) + row * what.to_pitch;
    memory().let_runtime_write(to);
    std::memmove(to, static_cast<const char*>(what.from) + row * what.from_pitch, what.width);
    memory().note_written(to, what.width);
  }
}

// Done when the stream comes to it. Pageable memory is read at the call, and written before it returns.
void move_rows_later(rows what, cudaStream_t stream) {
  const std::size_t to_bytes = what.to_pitch * (what.height - 1) + what.width;
  const std::size_t from_bytes = what.from_pitch * (what.height - 1) + what.width;
  if (!memory().owns(what.from) && !is_pinned(what.from, from_bytes)) {
    const auto* const first = static_cast<const char*>(what.from);
    const auto staged = std::make_shared<std::vector<char>>(first, first + from_bytes);
    defer(stream, [what, staged]() mutable {
      what.from = staged->data();
      move_rows(what);
    });
  } else {
    defer(stream, [what] { move_rows(what); });
  }
  if (!memory().owns(what.to) && !is_pinned(what.to, to_bytes)) complete(stream);
}

// `stream` is that of a copy that need not be done at the call; null where it must be.
cudaError_t copy_rows(const char* function, void* to, std::size_t to_pitch, const void* from,
                      std::size_t from_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                      cudaStream_t stream = nullptr) {
  if (stream == nullptr) complete_all();
  if (sticky_error() != cudaSuccess || width == 0 || height == 0) return finish(cudaSuccess);
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return finish(cudaErrorInvalidMemcpyDirection);
  if (height > 1 && (to_pitch < width || from_pitch < width)) return finish(cudaErrorInvalidValue);
  const auto [to_side, from_side] = sides_of(kind);
  if (!usable(function, "destination", to, to_pitch * (height - 1) + width, to_side) ||
      !usable(function, "source", from, from_pitch * (height - 1) + width, from_side)) {
    return finish(cudaErrorInvalidValue);
  }
  if (!memory().owns(to) || !memory().owns(from)) note_host_copy(function, width * height);
  const rows what{to, to_pitch, from, from_pitch, width, height};
  if (stream != nullptr && is_deferring()) {
    move_rows_later(what, stream);
  } else {
    move_rows(what);
  }
  return finish(cudaSuccess);
}

cudaError_t fill(const char* function, void* to, int byte, std::size_t bytes, cudaStream_t stream = nullptr) {
  if (stream == nullptr) complete_all();
  if (sticky_error() != cudaSuccess || bytes == 0) return finish(cudaSuccess);
  if (!usable(function, "destination", to, bytes, side::device)) return finish(cudaErrorInvalidValue);
  const auto set = [to, byte, bytes] {
    if (sticky_error() != cudaSuccess) return;
    const runtime_access access;
    memory().let_runtime_write(to);
    std::memset(to, byte, bytes);
    memory().note_written(to, bytes);
  };
  if (stream != nullptr && is_deferring()) {
    defer(stream, set);
  } else {
    set();
  }
  return finish(cudaSuccess);
}

// The value of a device attribute; empty for one that the emulator does not know.
std::optional<int> attribute_value(cudaDeviceAttr attribute) {
  switch (attribute) {
#define LAB_VALUE_OF(NAME, NUMBER, VALUE) \
  case NAME:                              \
    return VALUE;
    LAB_DEVICE_ATTRIBUTES(LAB_VALUE_OF)
#undef LAB_VALUE_OF
  }
  return std::nullopt;
}

}  // namespace

// ---- options and state, for the host program

namespace {

// A variable of the environment that holds a whole number from 0 to `most`. Empty counts as unset, which is
// 0; what is wrong with another value is appended to `complaints`.
std::uint64_t number_from_environment(const char* name, std::uint64_t most, std::string& complaints) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return 0;
  const std::string_view text = value;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number <= most) return number;
  complaints += (complaints.empty() ? "" : "; ") + std::string(name) + "=" + value +
                " is no whole number from 0 to " + std::to_string(most);
  return 0;
}

std::pair<options, std::string> read_environment() {
  constexpr auto any_bytes = std::numeric_limits<std::size_t>::max();
  std::string complaints;
  options wanted;
  wanted.threads = static_cast<int>(number_from_environment("LAB_EMULATOR_THREADS", max_threads, complaints));
  wanted.reverse = number_from_environment("LAB_EMULATOR_REVERSE", 1, complaints) != 0;
  wanted.memory_bytes = number_from_environment("LAB_EMULATOR_MEMORY", any_bytes, complaints);
  wanted.multiprocessors = static_cast<int>(
      number_from_environment("LAB_EMULATOR_MULTIPROCESSORS", max_multiprocessors, complaints));
  wanted.devices = static_cast<int>(number_from_environment("LAB_EMULATOR_DEVICES", max_devices, complaints));
  return {wanted, complaints};
}

}  // namespace

options options_from_environment() {
  return read_environment().first;
}

std::string configuration_error() {
  return read_environment().second;
}

void configure(const options& wanted) {
  const std::lock_guard lock(options_mutex);
  current_options() = normalised(wanted);
  device_memory::instance().set_capacity(wanted.memory_bytes);
}

options configuration() {
  const std::lock_guard lock(options_mutex);
  return current_options();
}

void narrow_allocation(const void* pointer, std::size_t bytes) {
  memory().narrow(pointer, bytes);
}

void forbid_writes(const void* pointer) {
  memory().forbid_writes(pointer);
}

cudaError_t sticky_error() {
  return sticky;
}
void set_sticky_error(cudaError_t error) {
  sticky = error;
}

cudaError_t finish(cudaError_t error) {
  if (sticky != cudaSuccess) return sticky;
  if (error != cudaSuccess) last_error = error;
  return error;
}

bool is_stream(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
         streams->contains(stream);
}

int device_of(cudaStream_t stream) {
  return streams->contains(stream) ? stream->device : current_device();
}

bool is_host_memory_of_the_device(const void* pointer) {
  return is_pinned(pointer, 0);
}

cudaError_t copy_symbol(void* to, const void* from, const symbol_copy& what) {
  active_stream_listener->host_waits_for(what.waits ? cudaStreamLegacy : what.stream);
  if (what.waits) {
    note_synchronisation(what.function);
  } else {
    note_stream(what.function, what.stream);
  }
  // One side is the symbol.
  if (!memory().holds(to) && !memory().holds(from)) note_host_copy(what.function, what.bytes);
  if (what.offset > what.symbol_bytes || what.bytes > what.symbol_bytes - what.offset) {
    add_diagnostic_of_call(format("copy of %zu bytes at offset %zu of a symbol of %zu bytes", what.bytes,
                                  what.offset, what.symbol_bytes));
    return finish(cudaErrorInvalidValue);
  }
  if (sticky_error() != cudaSuccess) return finish(cudaSuccess);
  const runtime_access access;
  std::memcpy(to, from, what.bytes);
  return finish(cudaSuccess);
}

cudaError_t register_symbol(void* symbol, std::size_t bytes) {
  memory().add_symbol(symbol, bytes);
  return finish(cudaSuccess);
}

}  // namespace lab::emulator

using namespace lab::emulator;

// ---- errors

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define LAB_NAME_OF(NAME, ...) \
  case NAME:                   \
    return #NAME;
    LAB_CUDA_ERRORS(LAB_NAME_OF)
#undef LAB_NAME_OF
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define LAB_TEXT_OF(NAME, NUMBER, TEXT) \
  case NAME:                            \
    return TEXT;
    LAB_CUDA_ERRORS(LAB_TEXT_OF)
#undef LAB_TEXT_OF
  }
  return "unrecognized error code";
}

cudaError_t cudaGetLastError() {
  const cudaError_t last = std::exchange(last_error, cudaSuccess);
  return sticky != cudaSuccess ? sticky.load() : last;
}

cudaError_t cudaPeekAtLastError() {
  return finish(last_error);
}

// ---- device

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device < 0 || device >= device_count()) return finish(cudaErrorInvalidDevice);
  const std::optional<int> found = attribute_value(attribute);
  if (!found) return finish(cudaErrorInvalidValue);
  *value = *found;
  return finish(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= device_count()) return finish(cudaErrorInvalidDevice);
  *properties = {};
  std::strcpy(properties->name, "CPU emulator");
  properties->totalGlobalMem = memory().capacity();
  const auto value = [](cudaDeviceAttr attribute) { return attribute_value(attribute).value_or(0); };
  properties->sharedMemPerBlock = shared_bytes_default;
  properties->sharedMemPerBlockOptin = shared_bytes_limit;
  properties->sharedMemPerMultiprocessor =
      static_cast<std::size_t>(value(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  properties->reservedSharedMemPerBlock = 1024;
  properties->regsPerBlock = value(cudaDevAttrMaxRegistersPerBlock);
  properties->regsPerMultiprocessor = value(cudaDevAttrMaxRegistersPerMultiprocessor);
  properties->warpSize = warpSize;
  properties->memPitch = static_cast<std::size_t>(value(cudaDevAttrMaxPitch));
  properties->maxThreadsPerBlock = static_cast<int>(block_size_limit);
  properties->maxThreadsPerMultiProcessor = value(cudaDevAttrMaxThreadsPerMultiProcessor);
  properties->maxBlocksPerMultiProcessor = 32;
  for (int axis = 0; axis < 3; ++axis) {
    properties->maxThreadsDim[axis] = axis < 2 ? 1024 : 64;
    properties->maxGridSize[axis] = axis == 0 ? 0x7fffffff : 65535;
  }
  properties->totalConstMem = static_cast<std::size_t>(value(cudaDevAttrTotalConstantMemory));
  properties->major = 9;
  properties->minor = 0;
  properties->textureAlignment = properties->surfaceAlignment = 512;
  properties->texturePitchAlignment = 32;
  properties->deviceOverlap = properties->canMapHostMemory = properties->concurrentKernels = 1;
  properties->asyncEngineCount = properties->unifiedAddressing = properties->streamPrioritiesSupported = 1;
  properties->managedMemory = properties->concurrentManagedAccess = properties->cooperativeLaunch = 1;
  properties->multiProcessorCount = configuration().multiprocessors;
  properties->l2CacheSize = l2_bytes;
  return finish(cudaSuccess);
}

cudaError_t cudaDeviceReset() {
  active_stream_listener->host_waits_for_all();
  note_forbidden("cudaDeviceReset", "it ends all work on the device");
  return finish(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize() {
  if (inside_kernel()) {
    active_kernel_launches->refuse_waiting(static_cast<const char*>(__builtin_return_address(0)) - 1);
    return cudaSuccess;
  }
  const traced_call traced("cudaDeviceSynchronize");
  note_synchronisation("cudaDeviceSynchronize");
  active_stream_listener->host_waits_for_all();
  complete_all();
  return finish(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return finish(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return finish(cudaSuccess);
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  note_forbidden("cudaCtxResetPersistingL2Cache", "it may only enqueue work on its stream");
  return finish(cudaSuccess);
}

// ---- streams

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  note_forbidden("creating a stream", "a launch works on the stream that it is given");
  if (stream == nullptr || flags > cudaStreamNonBlocking) return finish(cudaErrorInvalidValue);
  *stream = nullptr;
  if (sticky_error() == cudaSuccess) *stream = streams->add(new CUstream_st{current_device()});
  active_stream_listener->note_new_stream(*stream, flags == cudaStreamDefault);
  return finish(cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  note_forbidden("cudaStreamDestroy", "a launch works on the stream that it is given");
  complete(stream);
  return destroy(*streams, stream);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const traced_call traced("cudaStreamSynchronize");
  note_synchronisation("cudaStreamSynchronize");
  return waited_for(stream);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  note_synchronisation("cudaStreamQuery");
  return waited_for(stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  note_stream("cudaStreamWaitEvent", stream);
  if (!events->contains(event)) return finish(cudaErrorInvalidResourceHandle);
  active_graph_capture->note_waiting_stream(stream, event);
  active_stream_listener->note_waiting_stream(stream, event);
  if (is_stream(stream) && is_deferring()) defer_wait(stream, event);
  return on_stream(stream);
}

// ---- events

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  note_forbidden("creating an event", "work on one stream is done in order, without events");
  if (event == nullptr || flags > (cudaEventBlockingSync | cudaEventDisableTiming)) {
    return finish(cudaErrorInvalidValue);
  }
  *event = nullptr;
  if (sticky_error() == cudaSuccess)
    *event =
        events->add(new CUevent_st{current_device(), (flags & cudaEventDisableTiming) == 0, std::nullopt});
  return finish(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  note_forbidden("cudaEventDestroy", "work on one stream is done in order, without events");
  return destroy(*events, event);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  note_stream("cudaEventRecord", stream);
  if (!events->contains(event) || !is_stream(stream) || device_of(stream) != event->device)
    return finish(cudaErrorInvalidResourceHandle);
  active_stream_listener->note_event(event, stream);
  const auto record = [event] { event->recorded = std::chrono::steady_clock::now(); };
  if (is_deferring()) {
    defer_record(event, stream, record);
  } else {
    record();
  }
  active_graph_capture->note_event(event, stream);
  return finish(cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const traced_call traced("cudaEventSynchronize");
  note_synchronisation("cudaEventSynchronize");
  active_stream_listener->host_waits_for(event);
  complete(event);
  return finish(events->contains(event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  note_synchronisation("cudaEventQuery");
  active_stream_listener->host_waits_for(event);
  complete(event);
  return finish(events->contains(event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  for (const cudaEvent_t event : {begin, end}) {
    if (!events->contains(event) || !event->timed || !event->recorded)
      return finish(cudaErrorInvalidResourceHandle);
  }
  if (begin->device != end->device) return finish(cudaErrorInvalidResourceHandle);
  for (const cudaEvent_t event : {begin, end}) active_stream_listener->host_waits_for(event);
  *milliseconds = std::chrono::duration<float, std::milli>(*end->recorded - *begin->recorded).count();
  return finish(cudaSuccess);
}

// ---- memory

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  const traced_call traced("cudaMalloc", bytes);
  note_allocation("cudaMalloc");
  return allocate(pointer, bytes, current_device());
}
cudaError_t cudaFree(void* pointer) {
  const traced_call traced("cudaFree");
  note_allocation("cudaFree");
  active_stream_listener->host_waits_for_all();
  complete_all();
  return release(pointer, "cudaFree");
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  const traced_call traced("cudaMallocAsync", bytes);
  note_allocation("cudaMallocAsync");
  note_stream("cudaMallocAsync", stream);
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  const int device = device_of(stream);
  return allocate(pointer, bytes, device, &default_pools[static_cast<std::size_t>(device)]);
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  const traced_call traced("cudaMallocFromPoolAsync", bytes);
  note_allocation("cudaMallocFromPoolAsync");
  note_stream("cudaMallocFromPoolAsync", stream);
  if (!is_pool(pool)) return finish(cudaErrorInvalidValue);
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  const bool is_default = pool >= default_pools.data() && pool < default_pools.data() + default_pools.size();
  return allocate(pointer, bytes, is_default ? static_cast<int>(pool - default_pools.data()) : pool->device,
                  pool);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  const traced_call traced("cudaFreeAsync");
  note_allocation("cudaFreeAsync");
  note_stream("cudaFreeAsync", stream);
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  complete(stream);
  return release(pointer, "cudaFreeAsync");
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  const traced_call traced("cudaMallocHost", bytes);
  note_allocation("cudaMallocHost");
  if (pointer == nullptr) return finish(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (sticky_error() != cudaSuccess) return finish(cudaSuccess);
  *pointer = std::malloc(std::max<std::size_t>(bytes, 1));
  if (*pointer == nullptr) return finish(cudaErrorMemoryAllocation);
  host_allocations->add(*pointer, std::max<std::size_t>(bytes, 1));
  memory().add_mapped(*pointer, bytes);
  return finish(cudaSuccess);
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  note_allocation("cudaHostRegister");
  if (pointer == nullptr || bytes == 0) return finish(cudaErrorInvalidValue);
  if (is_pinned(pointer, bytes)) return finish(cudaErrorHostMemoryAlreadyRegistered);
  registered_memory->add(pointer, bytes);
  memory().add_mapped(pointer, bytes);
  return finish(cudaSuccess);
}

cudaError_t cudaHostUnregister(void* pointer) {
  note_allocation("cudaHostUnregister");
  active_stream_listener->host_waits_for_all();
  if (!registered_memory->remove(pointer)) return finish(cudaErrorHostMemoryNotRegistered);
  memory().remove_mapped(pointer);
  return finish(cudaSuccess);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  if (device == nullptr || !is_pinned(host, 0)) return finish(cudaErrorInvalidValue);
  *device = host;
  return finish(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return finish(cudaErrorInvalidValue);
  const auto address = const_cast<void*>(pointer);
  *attributes = {cudaMemoryTypeUnregistered, 0, nullptr, address};
  if (memory().is_managed(pointer)) {
    *attributes = {cudaMemoryTypeManaged, memory().device_of(pointer), address, address};
  } else if (memory().owns(pointer)) {
    *attributes = {cudaMemoryTypeDevice, memory().device_of(pointer), address, nullptr};
  } else if (is_pinned(pointer, 0)) {
    *attributes = {cudaMemoryTypeHost, 0, address, address};
  }
  return finish(cudaSuccess);
}

cudaError_t cudaFreeHost(void* pointer) {
  const traced_call traced("cudaFreeHost");
  note_allocation("cudaFreeHost");
  active_stream_listener->host_waits_for_all();
  if (pointer == nullptr) return finish(cudaSuccess);
  if (!host_allocations->remove(pointer)) return finish(cudaErrorInvalidValue);
  memory().remove_mapped(pointer);
  std::free(pointer);
  return finish(cudaSuccess);
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  *total_bytes = memory().capacity();
  *free_bytes = *total_bytes - std::min(*total_bytes, memory().used(current_device()));
  return finish(cudaSuccess);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const traced_call traced("cudaMemcpy", bytes);
  note_synchronisation("cudaMemcpy");
  active_stream_listener->host_waits_for(cudaStreamLegacy);
  // Between two places on the device it does not wait, and nothing orders it with other streams.
  if (memory().owns(to) && memory().owns(from)) note_stream("cudaMemcpy", nullptr);
  return copy_rows("cudaMemcpy", to, bytes, from, bytes, bytes, 1, kind);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const traced_call traced("cudaMemcpyAsync", bytes);
  note_stream("cudaMemcpyAsync", stream);
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  const auto copy = [=] {
    active_stream_listener->note_copy(to, bytes, from, bytes, stream);
    return copy_rows("cudaMemcpyAsync", to, bytes, from, bytes, bytes, 1, kind, stream);
  };
  return active_graph_capture->capture(stream, copy) ? finish(cudaSuccess) : copy();
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width_bytes, std::size_t height, cudaMemcpyKind kind) {
  const traced_call traced("cudaMemcpy2D", width_bytes * height);
  note_synchronisation("cudaMemcpy2D");
  active_stream_listener->host_waits_for(cudaStreamLegacy);
  // Between two places on the device it does not wait, and nothing orders it with other streams.
  if (memory().owns(to) && memory().owns(from)) note_stream("cudaMemcpy2D", nullptr);
  return copy_rows("cudaMemcpy2D", to, to_pitch, from, from_pitch, width_bytes, height, kind);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width_bytes, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  const traced_call traced("cudaMemcpy2DAsync", width_bytes * height);
  note_stream("cudaMemcpy2DAsync", stream);
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  if (height > 0)
    active_stream_listener->note_copy(to, to_pitch * (height - 1) + width_bytes, from,
                                      from_pitch * (height - 1) + width_bytes, stream);
  return copy_rows("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width_bytes, height, kind, stream);
}

namespace {

cudaError_t copy_between(const char* function, void* to, int to_device, const void* from, int from_device,
                         std::size_t bytes, cudaStream_t stream) {
  for (const int device : {to_device, from_device}) {
    if (device < 0 || device >= device_count()) return finish(cudaErrorInvalidDevice);
  }
  const auto is_on = [function](const char* role, const void* pointer, int device) {
    if (!memory().holds(pointer) || memory().device_of(pointer) == device) return true;
    add_diagnostic_of_call(format("%s: the %s is memory of device %d, and not of device %d", function, role,
                                  memory().device_of(pointer), device));
    return false;
  };
  if (bytes > 0 && (!is_on("destination", to, to_device) || !is_on("source", from, from_device)))
    return finish(cudaErrorInvalidValue);
  return copy_rows(function, to, bytes, from, bytes, bytes, 1, cudaMemcpyDeviceToDevice, stream);
}

}  // namespace

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes) {
  const traced_call traced("cudaMemcpyPeer", bytes);
  note_stream("cudaMemcpyPeer", nullptr);
  active_stream_listener->host_waits_for(cudaStreamLegacy);
  return copy_between("cudaMemcpyPeer", to, to_device, from, from_device, bytes, nullptr);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  const traced_call traced("cudaMemcpyPeerAsync", bytes);
  note_stream("cudaMemcpyPeerAsync", stream);
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  return copy_between("cudaMemcpyPeerAsync", to, to_device, from, from_device, bytes, stream);
}

cudaError_t cudaMemset(void* to, int byte, std::size_t bytes) {
  const traced_call traced("cudaMemset", bytes);
  note_stream("cudaMemset", nullptr);
  // Of memory that the host can touch it waits.
  if (!memory().owns(to) || memory().is_managed(to)) active_stream_listener->host_waits_for(cudaStreamLegacy);
  return fill("cudaMemset", to, byte, bytes);
}

cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream) {
  const traced_call traced("cudaMemsetAsync", bytes);
  note_stream("cudaMemsetAsync", stream);
  if (!is_stream(stream)) return finish(cudaErrorInvalidResourceHandle);
  const auto set = [=] {
    active_stream_listener->note_fill(to, bytes, stream);
    return fill("cudaMemsetAsync", to, byte, bytes, stream);
  };
  return active_graph_capture->capture(stream, set) ? finish(cudaSuccess) : set();
}

// ---- memory pools

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (device < 0 || device >= device_count()) return finish(cudaErrorInvalidDevice);
  *pool = &default_pools[static_cast<std::size_t>(device)];
  return finish(cudaSuccess);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  note_allocation("cudaMemPoolCreate");
  if (pool == nullptr || properties == nullptr || properties->location.id < 0 ||
      properties->location.id >= device_count())
    return finish(cudaErrorInvalidValue);
  *pool = nullptr;
  if (sticky_error() == cudaSuccess) *pool = pools->add(new CUmemPoolHandle_st{properties->location.id});
  return finish(cudaSuccess);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  note_allocation("cudaMemPoolDestroy");
  if (!pools->remove(pool)) return finish(cudaErrorInvalidValue);
  delete pool;
  return finish(cudaSuccess);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  note_allocation("cudaMemPoolSetAttribute");
  if (!is_pool(pool) || !is_pool_attribute(attribute) || value == nullptr)
    return finish(cudaErrorInvalidValue);
  if (attribute == cudaMemPoolAttrReleaseThreshold) {
    pool->release_threshold = *static_cast<const unsigned long long*>(value);
  } else {
    pool->reuse[attribute - 1] = *static_cast<const int*>(value);
  }
  return finish(cudaSuccess);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const bool size =
      attribute == cudaMemPoolAttrReservedMemCurrent || attribute == cudaMemPoolAttrUsedMemCurrent;
  if (!is_pool(pool) || !(size || is_pool_attribute(attribute)) || value == nullptr)
    return finish(cudaErrorInvalidValue);
  if (size) {
    // A pool of the emulator keeps nothing that is not in use.
    const bool is_default = !pools->contains(pool);
    *static_cast<unsigned long long*>(value) =
        memory().used(is_default ? static_cast<int>(pool - default_pools.data()) : pool->device);
  } else if (attribute == cudaMemPoolAttrReleaseThreshold) {
    *static_cast<unsigned long long*>(value) = pool->release_threshold;
  } else {
    *static_cast<int*>(value) = pool->reuse[attribute - 1];
  }
  return finish(cudaSuccess);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  note_allocation("cudaMemPoolTrimTo");
  return finish(is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue);
}
