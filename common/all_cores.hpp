// A loop of the host's on all of its cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace lab {

// Threads that wait for loops to share: to start one for every loop would cost as much as most loops do. They
// last as long as the process.
class waiting_threads {
 public:
  static waiting_threads& of_process() {
    static auto* const all = new waiting_threads;  // never destroyed: the threads use it to the end
    return *all;
  }

  // Runs work(0) here, and work(1) .. work(others) at the same time where threads are free: they need not be,
  // so that loops may lie within each other. Returns when all that have begun have ended.
  void share(unsigned others, const std::function<void(unsigned)>& work) {
    if (others == 0) return work(0);
    std::unique_lock lock(access_);
    while (started_ < std::min(others, std::thread::hardware_concurrency())) {
      ++started_;
      std::thread([this] { help(); }).detach();
    }
    const auto own = offers_.insert(offers_.end(), {&work, others});
    lock.unlock();
    for (unsigned thread = 0; thread < others; ++thread) wanted_.notify_one();
    work(0);
    lock.lock();
    own->left = 0;
    ended_.wait(lock, [&] { return own->working == 0; });
    offers_.erase(own);
  }

 private:
  struct offer {
    const std::function<void(unsigned)>* work = nullptr;
    unsigned left = 0;  // threads that may still begin; each gets a number, from the highest down
    unsigned working = 0;
  };

  [[noreturn]] void help() {
    std::unique_lock lock(access_);
    for (;;) {
      const auto open =
          std::find_if(offers_.begin(), offers_.end(), [](const offer& one) { return one.left > 0; });
      if (open == offers_.end()) {
        wanted_.wait(lock);
        continue;
      }
      const unsigned thread = open->left--;
      ++open->working;
      lock.unlock();
      (*open->work)(thread);
      lock.lock();
      if (--open->working == 0) ended_.notify_all();
    }
  }

  std::mutex access_;
  std::condition_variable wanted_;
  std::condition_variable ended_;
  std::list<offer> offers_;
  unsigned started_ = 0;
};

// Calls body(begin, end, thread) with pieces of [0, count) on all cores; `threads_for(count, piece)` of them.
inline unsigned threads_for(std::int64_t count, std::int64_t piece) {
  return std::clamp<unsigned>(std::thread::hardware_concurrency(), 1,
                              static_cast<unsigned>(std::clamp<std::int64_t>(count / piece, 1, 1024)));
}
template <class Body>
void for_pieces_on_all_cores(std::int64_t count, std::int64_t piece, const Body& body) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&](unsigned thread) {
    for (std::int64_t begin = next.fetch_add(piece); begin < count; begin = next.fetch_add(piece))
      body(begin, std::min(begin + piece, count), thread);
  };
  waiting_threads::of_process().share(threads_for(count, piece) - 1, work);
}

// The smallest of all values offered, from any thread.
class smallest {
 public:
  explicit smallest(std::int64_t none) : value_(none) {}
  void offer(std::int64_t value) {
    std::int64_t known = value_;
    while (value < known && !value_.compare_exchange_weak(known, value)) {
    }
  }
  [[nodiscard]] std::int64_t get() const { return value_; }

 private:
  std::atomic<std::int64_t> value_;
};

}  // namespace lab
