#include "harness/front/counters/nsight_compute.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/protocol.hpp"

namespace lab::front {
namespace {

// Characters that mean something in a filter of NVTX ranges; a stage's path has slashes.
std::string range_filter(const std::string& range) {
  std::string text;
  for (const char c : range) {
    if (std::string("@,[]/*+\\").find(c) != std::string::npos) text += '\\';
    text += c;
  }
  return text;
}

// The fields of one line of CSV, in which a quote within quotes is doubled.
std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

// A number without thousands separators, and without the zeros that end its fraction: "32,000.000000" is
// 32000.
std::string plain_number(std::string value) {
  const bool is_number = !value.empty() && value.find_first_not_of("0123456789.,-+eE") == std::string::npos;
  if (!is_number) return value;
  value.erase(std::remove(value.begin(), value.end(), ','), value.end());
  if (value.find('.') == std::string::npos || value.find_first_of("eE") != std::string::npos) return value;
  value.erase(value.find_last_not_of('0') + 1);
  if (value.back() == '.') value.pop_back();
  return value;
}

bool is_wanted(const std::string& column, const std::string& metric) {
  return column == metric || column.rfind(metric + ".", 0) == 0;
}

}  // namespace

void to_json(nlohmann::json& json, const counter& one) {
  json = {{"launch", one.launch},
          {"kernel", one.kernel},
          {"metric", one.metric},
          {"unit", one.unit},
          {"value", one.value}};
}

std::string find_nsight_compute() {
  std::vector<std::string> directories{"/usr/local/cuda/bin"};
  std::vector<std::string> versions;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/opt/nvidia/nsight-compute", error)) {
    versions.push_back(entry.path().string());
  }
  std::sort(versions.rbegin(), versions.rend());  // the newest first
  directories.insert(directories.end(), versions.begin(), versions.end());
  const std::string program = find_program("ncu", directories);
  if (program.empty()) {
    throw environment_error(
        "Nsight Compute (ncu) is neither in PATH nor in /usr/local/cuda/bin nor under "
        "/opt/nvidia/nsight-compute; "
        "it comes with the CUDA Toolkit (package cuda-nsight-compute)");
  }
  return program;
}

std::vector<std::string> profile_command(const profile_request& request) {
  std::vector<std::string> command{
      request.program, "--nvtx", "--nvtx-include",
      fmt::format("{}@{}/", nvtx_domain,
                  range_filter(request.stage)),  // the slash at the end: a pushed range
      // As in a timing: neither locked clocks nor a flush before each replay.
      "--clock-control", "none", "--cache-control", "none", "--metrics",
      fmt::format("{}", fmt::join(request.metrics, ",")), "--force-overwrite", "--export", request.report};
  if (request.full) {
    const auto export_option = std::find(command.begin(), command.end(), "--force-overwrite");
    command.insert(export_option, {"--set", "full", "--import-source", "yes"});
  }
  command.insert(command.end(), request.worker.begin(), request.worker.end());
  command.push_back("--once");
  command.push_back(request.message.dump());
  return command;
}

std::vector<std::string> import_command(const profile_request& request) {
  // Base units (byte, ns), so that the values of two reports can be compared.
  return {request.program, "--import", request.report, "--csv", "--page", "raw", "--print-units", "base"};
}

std::string open_command(const std::vector<std::string>& reports) {
  std::string command = "ncu-ui";
  for (const std::string& report : reports) {
    const bool plain =
        report.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%") == std::string::npos;
    std::string quoted;
    for (const char c : report) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    command += plain ? " " + report : " '" + quoted + "'";
  }
  return command;
}

void check_counter_permission(const std::string& output) {
  if (output.find("ERR_NVGPUCTRPERM") == std::string::npos) return;
  throw environment_error(
      "the driver lets only administrators read performance counters (ERR_NVGPUCTRPERM). Either run this "
      "command with "
      "sudo, or let every user read them: put 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' in "
      "/etc/modprobe.d/nvidia-profiling.conf and restart; in a container, add the capability SYS_ADMIN. "
      "See https://developer.nvidia.com/ERR_NVGPUCTRPERM");
}

std::vector<counter> parse_counters(const std::string& csv, const std::vector<std::string>& metrics) {
  std::istringstream lines(csv);
  std::vector<std::string> names;
  std::vector<std::string> units;
  std::vector<counter> counters;
  std::size_t kernel_column = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.rfind("==", 0) == 0) continue;  // "==PROF== ..." is not of the table
    const auto fields = csv_fields(line);
    if (names.empty()) {
      const auto kernel = std::find(fields.begin(), fields.end(), "Kernel Name");
      if (kernel == fields.end()) continue;
      kernel_column = static_cast<std::size_t>(kernel - fields.begin());
      names = fields;
    } else if (units.empty()) {
      units = fields;  // the line below the names
    } else if (fields.size() == names.size() && units.size() == names.size()) {
      for (const auto& metric : metrics) {
        for (std::size_t i = 0; i < names.size(); ++i) {
          if (!is_wanted(names[i], metric)) continue;
          counters.push_back({fields[0], fields[kernel_column], names[i], units[i], plain_number(fields[i])});
        }
      }
    }
  }
  if (counters.empty()) throw environment_error("Nsight Compute printed none of the metrics:\n" + csv);
  return counters;
}

}  // namespace lab::front
