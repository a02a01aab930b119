// OS threads that count what warps have done, while the kernel that does it goes on. Internal.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "common/emulator/observe/warp_counter.hpp"
#include "common/emulator/observe/warp_trace.hpp"

namespace lab::emulator {

// What is counted is a sum, so it does not matter who counts what, and when. It pays for warps that diverge:
// where all lanes do the same, grouping and counting 32 events takes no longer than to have another core read
// them. Threads are started as they are needed, one by one: not for a short launch, nor while those that run
// keep up. They belong to the process and wait from launch to launch.
class counting_threads {
 public:
  // Of a warp. Fewer are counted sooner than they are handed over.
  static constexpr std::uint32_t fewest_events = 1024;
  // That could have been handed over before the first thread is started.
  static constexpr unsigned first_batches = 16;

  explicit counting_threads(std::size_t program_bytes) : program_bytes_(program_bytes) {}
  counting_threads(const counting_threads&) = delete;
  counting_threads& operator=(const counting_threads&) = delete;
  ~counting_threads() { stop(); }

  // On up to `limit` threads from here on.
  void begin(int limit);
  // Whether what the warp has done may be handed over.
  bool may_take(const warp_trace& trace) {
    return limit_ != 0 && is_worth_it(trace) && ++batches_ > first_batches;
  }
  // Where the warp goes on; null if all threads have enough to do, so that the caller does best to count
  // itself.
  std::unique_ptr<warp_events> take_empty();
  void give(std::unique_ptr<warp_events> events);
  // Adds to `sites` all that was counted. Throws what a thread has thrown.
  void finish(site_table& sites);

 private:
  struct worker {
    explicit worker(std::size_t program_bytes) : sites(program_bytes) {}

    warp_grouping grouping;
    warp_counter counter;
    site_table sites;
    std::function<void()> work;
  };

  static bool is_worth_it(const warp_trace& trace);
  bool start_worker();
  void serve(worker& self);
  void count(worker& self, warp_events& events);
  void stop();

  const std::size_t program_bytes_;
  std::size_t limit_ = 0;
  unsigned batches_ = 0;
  std::vector<std::unique_ptr<worker>> workers_;  // of this launch

  std::mutex mutex_;
  std::condition_variable given_;
  std::deque<std::unique_ptr<warp_events>> full_;
  std::vector<std::unique_ptr<warp_events>> empty_;
  std::size_t places_ = 0;  // wherever they are, but for the warp's own
  bool stop_ = false;
  std::exception_ptr failure_;
};

// How often threads other than the kernel's have counted what a warp has done, in this process.
std::uint64_t batches_counted_elsewhere();

}  // namespace lab::emulator
