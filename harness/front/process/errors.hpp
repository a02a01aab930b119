// The ways in which the program ends early, and its exit codes.
#pragma once

#include <exception>
#include <stdexcept>

namespace lab::front {

inline constexpr int exit_ok = 0;
inline constexpr int exit_stage_failed = 1;
inline constexpr int exit_output_lost = 1;  // all well, but stdout could not be written
inline constexpr int exit_usage = 2;  // what was asked cannot be done, or cannot be done on this machine
inline constexpr int exit_interrupted = 130;  // 128 + SIGINT, as a shell says it

// The person asked for something that does not exist or makes no sense.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The machine cannot do it: no device, a worker that does not start, a file that cannot be written.
class environment_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Ctrl-C, or a request to end.
class interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace lab::front
