// Owners of a stream, an event and an instantiated graph. Borrowers take the plain cudaStream_t.
#pragma once

#include <functional>
#include <utility>

#include "common/cuda.hpp"

namespace lab {

// A non-blocking stream. Move-only.
class stream {
 public:
  stream();
  stream(stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  stream& operator=(stream&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream();

  [[nodiscard]] cudaStream_t get() const noexcept { return handle_; }
  // Waits for all work on the stream. Throws cuda_error with what went wrong in it.
  void synchronize() const;

 private:
  cudaStream_t handle_ = nullptr;
};

// An event that can be timed. Move-only.
class event {
 public:
  event();
  event(event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  event& operator=(event&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event();

  void record(cudaStream_t on) const;
#if !LAB_EMULATED
  // While `on` is being captured: a node of the graph that records the event at each replay.
  void record_in_graph(cudaStream_t on) const;
#endif
  void synchronize() const;
  // Nanoseconds from `start` to this event; both must have completed.
  [[nodiscard]] double nanoseconds_since(const event& start) const;

 private:
  cudaEvent_t handle_ = nullptr;
};

#if !LAB_EMULATED
// A captured sequence of launches that replays as one. Move-only. The emulator has none: there, launching is
// a call.
class graph {
 public:
  // Captures what `enqueue` puts on `on` and instantiates it.
  graph(cudaStream_t on, const std::function<void()>& enqueue);
  graph(graph&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  graph& operator=(graph&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;
  ~graph();

  void replay(cudaStream_t on) const;

 private:
  cudaGraphExec_t handle_ = nullptr;
};
#endif

}  // namespace lab
