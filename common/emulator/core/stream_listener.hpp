// What the runtime tells of the work on streams: to graphs that are captured from them, and to who keeps what
// the host has waited for. Internal. In a stage's worker nobody listens.
#pragma once

#include <functional>

#include "common/emulator/core/runtime_api.hpp"

namespace lab::emulator {

// Set by programs/graphs.cpp.
class graph_capture {
 public:
  virtual bool is_capturing(cudaStream_t) { return false; }
  // Whether a graph is captured from the stream, in which case `work` has become a node of it and is not to
  // be done now.
  virtual bool capture(cudaStream_t, const std::function<cudaError_t()>& /*work*/) { return false; }
  // The event belongs to what is captured from the stream; a stream that waits for it joins.
  virtual void note_event(cudaEvent_t, cudaStream_t) {}
  virtual void note_waiting_stream(cudaStream_t, cudaEvent_t) {}
};
inline constinit graph_capture no_graph_capture;
inline constinit graph_capture* active_graph_capture = &no_graph_capture;

// Set by observe/stream_order.cpp.
class stream_listener {
 public:
  virtual void enqueue(cudaStream_t) {}
  virtual void note_new_stream(cudaStream_t, bool /*is_blocking*/) {}
  virtual void note_event(cudaEvent_t, cudaStream_t) {}
  virtual void note_waiting_stream(cudaStream_t, cudaEvent_t) {}
  virtual void host_waits_for(cudaStream_t) {}
  virtual void host_waits_for(cudaEvent_t) {}
  virtual void host_waits_for_all() {}
  // A copy that may come later, between places of which host code can touch at least one: page-locked or
  // managed. Where pageable memory takes part the host has waited.
  virtual void note_copy(const void* /*to*/, std::size_t /*to_bytes*/, const void* /*from*/,
                         std::size_t /*from_bytes*/, cudaStream_t) {}
  // Likewise of cudaMemsetAsync().
  virtual void note_fill(const void* /*to*/, std::size_t /*bytes*/, cudaStream_t) {}
};
inline constinit stream_listener no_stream_listener;
inline constinit stream_listener* active_stream_listener = &no_stream_listener;

// The stream to which all work belongs that this thread enqueues; null: each its own.
inline constinit thread_local const cudaStream_t* stream_of_all = nullptr;

}  // namespace lab::emulator
