// Streams whose work is done in any order that their program allows, so that a missing wait shows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/emulator/core/runtime_api.hpp"

namespace lab::emulator {

// From its construction on, what this program enqueues on streams (kernels, copies, fills, events, NCCL's
// calls) is kept, with what it must wait for: the work before it on its stream, and the events that its
// stream was told to wait for. It is done when somebody waits for it, and by run(); then among all that may
// be done next, one is drawn by `seed`. So every run is one that CUDA allows, and two pieces of work that
// nothing orders come in either order before long.
//
//   seed 0   in the order of the program
//   seed 1   what was enqueued last comes first, where it may
//   others   drawn
//
// Who waits (cudaStreamSynchronize() and its like, a copy to or from pageable memory) has done what he waits
// for, and all that this needs, and nothing else. Between host and device, pageable memory is read at the
// call. The default stream is done at once, after everything else. Errors of kernels are told at the next
// wait.
//
// For one host thread, and one at a time; it throws std::logic_error when there is another one.
class deferred_streams {
 public:
  explicit deferred_streams(std::uint64_t seed);
  deferred_streams(const deferred_streams&) = delete;
  deferred_streams& operator=(const deferred_streams&) = delete;
  // Does what is left.
  ~deferred_streams();

  // Does everything that is kept.
  void run();

  struct state;

 private:
  std::unique_ptr<state> state_;
};

// ---- for the runtime

// Whether work is kept now.
bool is_deferring();
// Keeps an operation of a stream, to be run with the stream's device current; `kernel` if it runs one.
void defer(cudaStream_t stream, std::function<void()> operation, const void* kernel = nullptr);
// Keeps a kernel that may begin before the work before it on its stream has ended (programmatic dependent
// launch). If that work is a kernel, it is handed over, to be run by the operation.
struct kernel_before {
  const void* kernel = nullptr;
  std::function<void()> run;
};
void defer_early(cudaStream_t stream, std::function<void(const kernel_before&)> operation,
                 const void* kernel);
// Keeps one that belongs to several streams: it waits for what each of them holds now, and what comes on them
// later waits for it.
void defer_joint(const std::vector<cudaStream_t>& streams, std::function<void()> operation);
// The event stands for what is on the stream now; a stream waits for what the event stands for.
void defer_record(cudaEvent_t event, cudaStream_t stream, std::function<void()> operation);
void defer_wait(cudaStream_t stream, cudaEvent_t event);
// What somebody waits for is done when these return.
void complete(cudaStream_t stream);
void complete(cudaEvent_t event);
void complete_all();
// Between these calls nothing is kept: what is enqueued is done at once, after all that is kept now.
void pause_deferring();
void resume_deferring();

}  // namespace lab::emulator
