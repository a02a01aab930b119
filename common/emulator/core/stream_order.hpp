// What the host knows to be done of the work that it has enqueued. Internal.
//
// Work is done here when its call returns. On a GPU it may come later, so where kernels are observed it is
// kept what the host has waited for: each stream's work is numbered, and each stream, each event and the host
// know up to which number each stream's work is done before they go on.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "common/emulator/core/runtime_api.hpp"

namespace lab::emulator {

struct stream_work {
  cudaStream_t stream = nullptr;
  std::uint64_t number = 0;  // 0: none
};

// Whether any of it may not be done yet: where not, nobody need ask.
inline constinit std::atomic<bool> host_is_ahead{false};
// All host memory that such work uses lies between them.
inline constinit std::atomic<std::uintptr_t> used_begin{~std::uintptr_t{0}}, used_end{0};
void note_used(std::uintptr_t address, std::size_t bytes);
// Whether this thread is in here, in functions of the library that are also compiled into the program.
inline constinit thread_local bool keeps_order = false;

// Does nothing but in programs whose kernels are observed, as all of these.
stream_work enqueue(cudaStream_t stream);
bool is_done(const stream_work& work);
// What was enqueued last: of the launch that is computed now.
stream_work latest_work();

void note_new_stream(cudaStream_t stream, bool is_blocking);
void note_event(cudaEvent_t event, cudaStream_t stream);
void note_waiting_stream(cudaStream_t stream, cudaEvent_t event);
void host_waits_for(cudaStream_t stream);
void host_waits_for(cudaEvent_t event);
void host_waits_for(const stream_work& work);
void host_waits_for_all();

// A copy that may come later, between places of which host code can touch at least one: page-locked or
// managed. Where pageable memory takes part the host has waited.
void note_copy(const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes,
               cudaStream_t stream);
// Likewise of cudaMemsetAsync().
void note_fill(const void* to, std::size_t bytes, cudaStream_t stream);
// The copies in whose way an access of host code is: where they were called, "main.cu:31: ", and whether they
// read what the host writes; empty if there is none.
struct unfinished_copy {
  bool is_there = false;
  bool reads = false;
  bool fills = false;
  std::string call;
};
unfinished_copy find_copy(std::uintptr_t address, std::size_t bytes, bool host_writes);

// Host code at `line` ("main.cu:31") has not waited for what it touches. Whether the next call that waits
// stands in the same statement, as in printf("%s %d", cudaGetErrorString(cudaDeviceSynchronize()), *result),
// `tell` hears before that call waits, or at the program's end.
void note_early_access(const std::string& line, std::function<void(bool waits_in_same_statement)> tell);
void tell_early_accesses();

// All work that this thread enqueues in this scope is the stream's.
class work_of_stream {
 public:
  explicit work_of_stream(cudaStream_t stream);
  work_of_stream(const work_of_stream&) = delete;
  work_of_stream& operator=(const work_of_stream&) = delete;
  ~work_of_stream();

 private:
  const cudaStream_t* before_;
  cudaStream_t stream_;
};

}  // namespace lab::emulator
