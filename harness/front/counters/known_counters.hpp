// The catalogue of counters, harness/counters.json, as it was when the program was built.
#pragma once

#include <string>
#include <vector>

namespace lab::front {

struct known_counter {
  std::string name;     // Nsight Compute's, or the lab's own ("lab__...")
  std::string label;    // in a few words: "load sectors"
  std::string unit;     // "sectors of 32 bytes"
  std::string meaning;  // what it counts
  bool modelled;        // by the emulator
  std::string column;   // where `profile --source` shows it beside a line: "global ld"; else empty
};

[[nodiscard]] const std::vector<known_counter>& known_counters();

// The counter of this name; null for one that the catalogue does not have.
[[nodiscard]] const known_counter* find_counter(const std::string& name);

[[nodiscard]] bool is_modelled(const std::string& name);

// The lab's own counters, which mean nothing to Nsight Compute.
[[nodiscard]] bool is_own(const std::string& name);

// Whether it could be the name of a counter: "dram__bytes_read.sum".
[[nodiscard]] bool is_metric_name(const std::string& name);

}  // namespace lab::front
