// A loop of the host's on all of its cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace lab {

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
  std::vector<std::jthread> helpers;
  for (unsigned thread = 1; thread < threads_for(count, piece); ++thread)
    helpers.emplace_back([&work, thread] { work(thread); });
  work(0);
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
