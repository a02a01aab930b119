// One launch's timeline as a person reads it: figures, a list, a picture, and a file for Perfetto.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/trace_record.hpp"

namespace lab::front {

struct stage_timeline {
  std::string stage;  // its path
  trace_record trace;
};

// What a timeline is compared by. Times in nanoseconds.
struct timeline_figures {
  int launches = 0;
  int waits = 0;
  int copies = 0;  // that the host asked for
  int fills = 0;
  int allocations = 0;
  int releases = 0;
  double host_time = 0;     // from the launch's beginning until its function returned
  double waiting_time = 0;  // of it in waits
  double device_time = 0;   // from the first work of the device to the end of the last; 0 on the emulator
  double device_idle = 0;   // of it without any work
  double longest_gap = 0;   // without any work of the device; on the emulator: without a call of the host's
};
[[nodiscard]] timeline_figures figures_of(const trace_record& trace);

// The figures, a column for each stage.
[[nodiscard]] std::string figures_table(const std::vector<stage_timeline>& stages);

// Every event in its order: when it began, how long it took, and the gap to the one before in its lane.
[[nodiscard]] std::string events_table(const stage_timeline& stage);

// In the format of Chrome's trace viewer, which Perfetto reads. Times there are microseconds.
[[nodiscard]] nlohmann::json perfetto_json(const stage_timeline& stage);

// A picture of all stages, one below the other, on one scale; light or dark as its viewer is.
[[nodiscard]] std::string timeline_svg(const std::vector<stage_timeline>& stages);

void to_json(nlohmann::json& json, const stage_timeline& stage);

}  // namespace lab::front
