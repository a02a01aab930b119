// The ways in which a stage can fail.
#pragma once

#include <string>

namespace lab {

enum class failure_kind {
  wrong,          // an output differs from the reference by more than its bound
  unwritten,      // an output still holds the poison
  out_of_bounds,  // something outside the output was written
  input_changed,  // the input was written
  crash,          // the device reported an error, or the worker died
  launch,         // the launch was refused
  unsupported,    // the stage refused these parameters
  hang,           // no answer in time
  race,           // threads or blocks access one location with nothing to order them
  uninitialised   // shared memory was read that nobody had written
};

inline constexpr const char* failure_kind_names[] = {
    "wrong",  "unwritten",   "out_of_bounds", "input_changed", "crash",
    "launch", "unsupported", "hang",          "race",          "uninitialised"};

inline std::string to_string(failure_kind kind) {
  return failure_kind_names[static_cast<int>(kind)];
}

}  // namespace lab
