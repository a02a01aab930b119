// Runs somebody's program within limits, and ends all that it started.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/process/child_process.hpp"

namespace lab::front {

// Of all processes that descend from this one.
struct usage_of_processes {
  std::size_t processes = 0;
  std::uint64_t resident_bytes = 0;
  std::vector<pid_t> children;  // this process's own
};
[[nodiscard]] usage_of_processes usage_of_descendants();

struct program_limits {
  std::chrono::milliseconds time{300'000};
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;  // resident, of all its processes together
  std::size_t processes = 64;
  bool is_silent = false;  // it has neither input nor output
};

struct program_ending {
  std::optional<process_ending> ending;  // empty: it was ended
  std::string ended_because;             // in words; empty: it ended itself
  std::vector<std::string> left_behind;  // processes that were still running
};

// The program has this one's standard output and error, and its input unless that is a terminal. Throws
// `interrupted` on Ctrl-C, and environment_error when the program cannot be executed; it is ended in either
// case.
[[nodiscard]] program_ending run_program_within(const std::vector<std::string>& arguments,
                                                const program_limits& limits);

}  // namespace lab::front
