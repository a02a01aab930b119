// When the host called which function of the runtime, for a timeline.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace lab::emulator {

struct recorded_call {
  std::string function;  // "cudaMemcpyAsync"; of a launch "cudaLaunchKernel"
  std::string kernel;    // of a launch
  std::size_t bytes = 0;
  // Of the host's steady clock. A kernel runs within its launch, a copy within its call.
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
  int device = 0;  // that was current
};

// From now on calls that allocate, free, launch, copy, fill or wait are recorded, from all threads, until
// take_calls().
void record_calls();

// Ends the recording. The calls in the order in which they ended.
std::vector<recorded_call> take_calls();

// One call, from its construction to its end. Costs a test of a flag where nothing is recorded. Internal.
class traced_call {
 public:
  explicit traced_call(const char* function, std::size_t bytes = 0, const void* kernel = nullptr);
  traced_call(const traced_call&) = delete;
  traced_call& operator=(const traced_call&) = delete;
  ~traced_call();

 private:
  const char* function_;
  std::size_t bytes_;
  const void* kernel_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace lab::emulator
