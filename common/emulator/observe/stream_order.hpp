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

#include "common/emulator/core/stream_listener.hpp"

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

// From now on, in a program whose kernels are observed, what the runtime tells (stream_listener) is kept.
void keep_stream_order();

bool is_done(const stream_work& work);
// What was enqueued last: of the launch that is computed now.
stream_work latest_work();
void host_waits_for(const stream_work& work);

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

}  // namespace lab::emulator
