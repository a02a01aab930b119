// Nsight Compute's command line: how it is called, and what it prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lab::front {

struct profile_request {
  std::string program;               // ncu
  std::vector<std::string> worker;   // the worker's binary and options
  nlohmann::json message;            // its one request
  std::string stage;                 // whose range is captured
  std::vector<std::string> metrics;  // Nsight Compute's names
  bool full = false;                 // all sections, and the sources, for who opens the report
  std::string report;                // the file that is kept, ending in .ncu-rep
};

// One metric of one kernel launch. The value is text, as Nsight Compute wrote it, without thousands
// separators.
struct counter {
  std::string launch;  // its number
  std::string kernel;
  std::string metric;
  std::string unit;
  std::string value;
};
void to_json(nlohmann::json& json, const counter& one);

// Where ncu is. Throws environment_error that says where it comes from when it is nowhere.
[[nodiscard]] std::string find_nsight_compute();

[[nodiscard]] std::vector<std::string> profile_command(const profile_request& request);
[[nodiscard]] std::vector<std::string> import_command(const profile_request& request);

// The command, for a shell, that opens reports in Nsight Compute.
[[nodiscard]] std::string open_command(const std::vector<std::string>& reports);

// Throws environment_error that says what to do when the output says that counters may not be read.
void check_counter_permission(const std::string& output);

// The metrics of every launch in the output of import_command. A metric without an exact column takes those
// whose names begin with it (a name without its suffix stands for all of them). Throws environment_error when
// there is no table.
[[nodiscard]] std::vector<counter> parse_counters(const std::string& csv,
                                                  const std::vector<std::string>& metrics);

}  // namespace lab::front
