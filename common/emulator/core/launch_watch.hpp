// What a stage's launch function does that it must not do, found out while it runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/emulator/core/runtime_api.hpp"

namespace lab::emulator {

struct launch_rules {
  bool may_allocate = false;     // device memory, page-locked memory, pools
  bool may_synchronise = false;  // wait for the device, and copy a little between host and device
  // Of a launch on several devices: further streams, and whether it may choose among the devices.
  std::vector<cudaStream_t> more_streams = {};
  bool may_choose_device = false;
};

// From its construction until violations(), the calls and the host code of this process are those of a launch
// on `stream`, which may only enqueue work there. What it does beyond that is noted, and goes on:
//
// * work on another stream; waiting, allocating, copying between host and device unless `rules` allow it;
//   creating streams and events; choosing or changing the device
// * host code that reads or writes device memory, which ends a program on a machine with a GPU. Between
//   runtime calls device memory is inaccessible, and the first access of each allocation is noted.
// * a rounding mode or a flushing of denormals that is left changed (it is put back), a host thread that is
//   left running
//
// Inside the watch, kernels find everything inaccessible that narrow_allocation() has taken from them: what
// reads or writes there, beyond the 256-byte alignment of the array's end, fails its launch.
//
// One watch at a time; it throws std::logic_error when there is another one.
class launch_watch {
 public:
  launch_watch(cudaStream_t stream, launch_rules rules);
  launch_watch(const launch_watch&) = delete;
  launch_watch& operator=(const launch_watch&) = delete;
  ~launch_watch();

  // Ends the watch. One sentence for each violation: what was done, and what is allowed instead.
  std::vector<std::string> violations();

  struct state;  // the emulator's

 private:
  friend class unwatched;
  std::unique_ptr<state> state_;
};

// For code of the harness that a launch calls (a memory resource that checks): what this scope does is not
// the launch's, and its kernels may touch the guard zones. Only who holds the watch can have one. Does
// nothing when the watch has ended.
class unwatched {
 public:
  explicit unwatched(const launch_watch& watch);
  unwatched(const unwatched&) = delete;
  unwatched& operator=(const unwatched&) = delete;
  ~unwatched();

 private:
  bool paused_;
};

}  // namespace lab::emulator
