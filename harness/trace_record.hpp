// A timeline of one launch, as a worker answers `trace` and the front shows it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lab {

// Times are nanoseconds from the beginning of the launch.
struct trace_event {
  std::string lane;  // "range", "host" or "device"; where there are several, "device 0", "device 1", ...
  std::string kind;  // "range", "launch", "kernel", "copy", "fill", "allocation", "release" or "wait"
  std::string name;  // of the range, the kernel, the function
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t bytes = 0;  // that were allocated, copied or filled; 0 where nobody knows
};

struct trace_record {
  bool emulated = false;      // by the emulator, whose device works within the host's calls: host times
  std::int64_t host_end = 0;  // when the launch function returned
  std::vector<trace_event> events;
};

inline bool is_device_lane(const std::string& lane) {
  return lane.rfind("device", 0) == 0;
}

// The kind of a call of the runtime by its name ("cudaMallocAsync": "allocation"); empty for one that no
// timeline shows.
inline std::string kind_of_call(const std::string& function) {
  const auto begins = [&](const char* beginning) { return function.rfind(beginning, 0) == 0; };
  if (begins("cudaLaunch") || begins("cudaGraphLaunch") || begins("cuLaunch")) return "launch";
  if (function.find("Synchronize") != std::string::npos) return "wait";
  if (begins("cudaMalloc")) return "allocation";
  if (begins("cudaFree")) return "release";
  if (begins("cudaMemcpy")) return "copy";
  if (begins("cudaMemset")) return "fill";
  return "";
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(trace_event, lane, kind, name, begin, end, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(trace_record, emulated, host_end, events)

}  // namespace lab
