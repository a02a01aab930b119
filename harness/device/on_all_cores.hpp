// Host work that is spread over all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace lab {

// Calls visit(k) for each k < count, on all cores, in any order.
template <class Visit>
void on_all_cores(std::int64_t count, const Visit& visit) {
  const auto cores = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t k = next++; k < count; k = next++) visit(k);
  };
  std::vector<std::jthread> helpers;
  for (std::int64_t t = 1; t < std::min(cores, count); ++t) helpers.emplace_back(work);
  work();
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
