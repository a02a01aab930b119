// OS threads that stay, and keep their fiber stacks, from launch to launch. Internal.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace lab::emulator {

class thread_pool {
 public:
  thread_pool() = default;
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;
  ~thread_pool();

  // Runs `work` on `count` OS threads at once, the caller's being one of them; returns when all have
  // returned. `work` must not throw. Throws std::system_error when the machine gives no more threads.
  void run(int count, const std::function<void()>& work);
  // Likewise, but on `count` other OS threads, and the caller goes on until it calls wait(). `work` lives
  // until then.
  void start(int count, const std::function<void()>& work);
  void wait();

  // OS threads that all pools of the process have started.
  static std::size_t helpers() { return helpers_; }

 private:
  void serve(int number);

  static inline std::atomic<std::size_t> helpers_{0};

  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  std::vector<std::thread> threads_;
  const std::function<void()>* work_ = nullptr;
  unsigned long round_ = 0;  // counts calls of run(), so that a thread sees a new one
  int wanted_ = 0;           // threads 0 to wanted_ - 1 take part in this round
  int busy_ = 0;
  bool stop_ = false;
};

// The threads of this process, but for the emulator's own; 0 where the system does not tell.
std::size_t count_of_host_threads();

// The CPU time in nanoseconds that threads of this process have taken that are neither the emulator's nor the
// caller; empty where the system does not tell. While it stays as it is they have not run: those of OpenMP
// sleep most of the time.
std::optional<std::uint64_t> time_of_other_threads();

}  // namespace lab::emulator
