#include "harness/device/trace.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "harness/device/stage.hpp"
#include "harness/device/track.hpp"

#if LAB_EMULATED
#include <chrono>

#include "common/emulator/core/call_trace.hpp"
#include "common/emulator/core/emulator.hpp"
#elif __has_include(<cupti.h>)
#define LAB_CUPTI 1
#include <cupti.h>
#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include "common/emulator/core/elf_file.hpp"
#endif

namespace lab {
namespace {

void sort_by_begin(trace_record& record) {
  std::stable_sort(record.events.begin(), record.events.end(),
                   [](const trace_event& a, const trace_event& b) { return a.begin < b.begin; });
}

}  // namespace

#if LAB_EMULATED

namespace {

std::chrono::steady_clock::time_point launch_begin;
std::chrono::steady_clock::time_point launch_end;

std::int64_t since_begin(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time - launch_begin).count();
}

}  // namespace

launch_trace::launch_trace() = default;

void launch_trace::begin() {
  emulator::record_calls();
  launch_begin = launch_end = std::chrono::steady_clock::now();
}

void launch_trace::end_of_launch() {
  launch_end = std::chrono::steady_clock::now();
}

trace_record launch_trace::take() {
  trace_record record{.emulated = true, .host_end = since_begin(launch_end)};
  for (const emulator::recorded_call& call : emulator::take_calls()) {
    if (call.begin >= launch_end) continue;
    if (emulator::configuration().devices > 1 && !call.kernel.empty()) {
      record.events.push_back({"device " + std::to_string(call.device), "kernel", call.kernel,
                               since_begin(call.begin), since_begin(call.end)});
    }
    record.events.push_back({"host", kind_of_call(call.function),
                             call.kernel.empty() ? call.function : call.kernel, since_begin(call.begin),
                             since_begin(call.end), static_cast<std::int64_t>(call.bytes)});
  }
  sort_by_begin(record);
  return record;
}

#elif LAB_CUPTI

namespace {

// The functions of CUPTI that are used, from the library that is here.
struct cupti_library {
  void* handle = nullptr;
  std::string path;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiGetTimestamp) timestamp = nullptr;
  decltype(&cuptiGetCallbackName) callback_name = nullptr;
};

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  if (function == nullptr) throw unsupported_error(std::string("libcupti has no ") + name);
}

const cupti_library& cupti() {
  static const cupti_library library = [] {
    cupti_library found;
    const std::string version = std::to_string(CUDART_VERSION / 1000);
    for (const std::string& path : {"libcupti.so." + version, std::string("libcupti.so"),
                                    std::string("/usr/local/cuda/lib64/libcupti.so"),
                                    std::string("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so")}) {
      found.handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
      if (found.handle == nullptr) continue;
      found.path = path;
      break;
    }
    if (found.handle == nullptr)
      throw unsupported_error(
          "a timeline needs CUPTI: libcupti was not found (package cuda-cupti, or its folder in "
          "LD_LIBRARY_PATH)");
    find(found.handle, "cuptiActivityEnable", found.enable);
    find(found.handle, "cuptiActivityDisable", found.disable);
    find(found.handle, "cuptiActivityRegisterCallbacks", found.register_callbacks);
    find(found.handle, "cuptiActivityGetNextRecord", found.next_record);
    find(found.handle, "cuptiActivityFlushAll", found.flush_all);
    find(found.handle, "cuptiGetTimestamp", found.timestamp);
    find(found.handle, "cuptiGetCallbackName", found.callback_name);
    return found;
  }();
  return library;
}

void check(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  throw unsupported_error(std::string("CUPTI cannot record here: ") + what + " gave error " +
                          std::to_string(result) +
                          " (another profiler at the same time, or the driver's permission)");
}

constexpr CUpti_ActivityKind recorded_kinds[] = {
    CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MARKER};

std::mutex events_mutex;
std::vector<trace_event> events;  // in CUPTI's time
std::uint64_t launch_begin = 0;
std::uint64_t launch_end = 0;

// "cudaLaunchKernel_v7000" as "cudaLaunchKernel", "cudaMemcpyAsync_ptsz" as "cudaMemcpyAsync".
std::string plain_name(std::string name) {
  for (const char* suffix : {"_ptsz", "_ptds"}) {
    const std::size_t begin_of_suffix = name.find(suffix);
    if (begin_of_suffix != std::string::npos) name.resize(begin_of_suffix);
  }
  const std::size_t version = name.rfind("_v");
  if (version != std::string::npos && name.find_first_not_of("0123456789", version + 2) == std::string::npos)
    name.resize(version);
  return name;
}

void add(const std::string& lane, std::string kind, std::string name, std::uint64_t begin, std::uint64_t end,
         std::uint64_t bytes = 0) {
  events.push_back({lane, std::move(kind), std::move(name), static_cast<std::int64_t>(begin),
                    static_cast<std::int64_t>(end), static_cast<std::int64_t>(bytes)});
}

std::string device_lane(std::uint32_t device) {
  return "device " + std::to_string(device);
}

// The beginning and the end of a range are two records with one id, of which the first alone has the name.
void add_marker(const CUpti_ActivityMarker2& marker) {
  static std::vector<std::pair<std::uint32_t, std::size_t>> open;
  if (marker.name != nullptr) {
    open.emplace_back(marker.id, events.size());
    add("range", "range", marker.name, marker.timestamp, marker.timestamp);
    return;
  }
  for (auto one = open.rbegin(); one != open.rend(); ++one) {
    if (one->first != marker.id) continue;
    events[one->second].end = static_cast<std::int64_t>(marker.timestamp);
    open.erase(std::next(one).base());
    return;
  }
}

void add_record(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME: {
      const auto& call = reinterpret_cast<const CUpti_ActivityAPI&>(record);
      const char* name = nullptr;
      cupti().callback_name(CUPTI_CB_DOMAIN_RUNTIME_API, call.cbid, &name);
      const std::string function = plain_name(name == nullptr ? "" : name);
      if (const std::string kind = kind_of_call(function); !kind.empty())
        add("host", kind, function, call.start, call.end);
      break;
    }
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel10&>(record);
      add(device_lane(kernel.deviceId), "kernel",
          kernel.name == nullptr ? "a kernel" : demangled(kernel.name), kernel.start, kernel.end);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
      const char* name = copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH   ? "device to host"
                         : copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD ? "host to device"
                                                                            : "device to device";
      add(device_lane(copy.deviceId), "copy", name, copy.start, copy.end, copy.bytes);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& fill = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
      add(device_lane(fill.deviceId), "fill", "fill", fill.start, fill.end, fill.bytes);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MARKER:
      add_marker(reinterpret_cast<const CUpti_ActivityMarker2&>(record));
      break;
    default:
      break;
  }
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  constexpr std::size_t bytes = std::size_t{8} << 20;
  constexpr std::size_t alignment = 8;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(alignment, bytes));
  *size = *buffer == nullptr ? 0 : bytes;
  *most_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  const std::lock_guard lock(events_mutex);
  CUpti_Activity* record = nullptr;
  while (cupti().next_record(buffer, valid, &record) == CUPTI_SUCCESS) add_record(*record);
  std::free(buffer);
}

}  // namespace

launch_trace::launch_trace() {
  // NVTX reads this variable at its first use: it names the library that receives the ranges.
  ::setenv("NVTX_INJECTION64_PATH", cupti().path.c_str(), 1);
  check(cupti().register_callbacks(give_buffer, take_buffer), "cuptiActivityRegisterCallbacks");
}

void launch_trace::begin() {
  for (const CUpti_ActivityKind kind : recorded_kinds) check(cupti().enable(kind), "cuptiActivityEnable");
  check(cupti().timestamp(&launch_begin), "cuptiGetTimestamp");
}

void launch_trace::end_of_launch() {
  check(cupti().timestamp(&launch_end), "cuptiGetTimestamp");
}

trace_record launch_trace::take() {
  check(cupti().flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
  for (const CUpti_ActivityKind kind : recorded_kinds) cupti().disable(kind);
  const std::lock_guard lock(events_mutex);
  trace_record record{.host_end = static_cast<std::int64_t>(launch_end - launch_begin)};
  const auto zero = static_cast<std::int64_t>(launch_begin);
  for (trace_event event : events) {
    event.begin -= zero;
    event.end -= zero;
    if (event.begin < 0 || (event.lane == "host" && event.begin >= record.host_end)) continue;
    record.events.push_back(std::move(event));
  }
  // One device needs no number.
  std::set<std::string> devices;
  for (const trace_event& event : record.events) {
    if (is_device_lane(event.lane)) devices.insert(event.lane);
  }
  for (trace_event& event : record.events) {
    if (devices.size() == 1 && is_device_lane(event.lane)) event.lane = "device";
  }
  sort_by_begin(record);
  return record;
}

#else

launch_trace::launch_trace() {
  throw unsupported_error(
      "a timeline needs CUPTI, and this program was built without its headers (cuda-cupti-dev)");
}
void launch_trace::begin() {}
void launch_trace::end_of_launch() {}
trace_record launch_trace::take() {
  return {};
}

#endif

}  // namespace lab
