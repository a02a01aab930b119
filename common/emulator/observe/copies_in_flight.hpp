// The asynchronous copies of a block's threads into shared memory that nobody has waited for yet. Internal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace lab::emulator {

class copies_in_flight {
 public:
  struct copy {
    std::uintptr_t begin;
    std::size_t bytes;
    unsigned thread;
    std::uint32_t place;
    std::uint64_t group;         // of its thread
    bool is_at_barrier = false;  // which is told when it is over
  };

  [[nodiscard]] bool empty() const { return words_.empty(); }
  void clear() {
    words_.clear();
    of_thread_.clear();
  }

  void begin(std::uintptr_t address, std::size_t bytes, unsigned thread, std::uint32_t place) {
    queue& own = of_thread_[thread];
    own.copies.push_back({address, bytes, thread, place, own.groups});
    for (std::uintptr_t word = address / 4; word * 4 < address + bytes; ++word)
      words_[word] = own.copies.back();
  }
  // The thread's copies so far are a group.
  void commit(unsigned thread) { ++of_thread_[thread].groups; }
  // A barrier is told when the thread's copies so far are over; `tell` is called with each of them.
  template <class Tell>
  void end_at_barrier(unsigned thread, Tell tell) {
    std::vector<copy>& all = of_thread_[thread].copies;
    for (const copy& one : all) {
      for (std::uintptr_t word = one.begin / 4; word * 4 < one.begin + one.bytes; ++word) {
        if (const auto found = words_.find(word); found != words_.end()) found->second.is_at_barrier = true;
      }
      tell(one);
    }
    all.clear();
  }
  // Ends the copies to these bytes; false if there are none.
  bool end(std::uintptr_t address, std::size_t bytes) {
    bool any = false;
    for (std::uintptr_t word = address / 4; !words_.empty() && word * 4 < address + bytes; ++word)
      any = words_.erase(word) != 0 || any;
    return any;
  }
  // All groups of the thread but the last `prior` are done, or also what is in none; `tell` is called with
  // each copy of them that no barrier is told of.
  template <class Tell>
  void wait(unsigned thread, std::uint64_t prior, bool also_ungrouped, Tell tell) {
    queue& own = of_thread_[thread];
    const std::uint64_t done = also_ungrouped ? own.groups + 1 : own.groups - std::min(own.groups, prior);
    const auto first = std::find_if(own.copies.begin(), own.copies.end(),
                                    [done](const copy& one) { return one.group >= done; });
    const std::vector<copy> all(own.copies.begin(), first);
    own.copies.erase(own.copies.begin(), first);
    for (const copy& one : all) {
      for (std::uintptr_t word = one.begin / 4; word * 4 < one.begin + one.bytes; ++word) {
        const auto found = words_.find(word);
        if (found != words_.end() && found->second.thread == thread && found->second.group == one.group)
          words_.erase(found);
      }
      tell(one);
    }
  }
  // One that writes any of the words of [address, address + bytes); null if there is none.
  [[nodiscard]] const copy* find(std::uintptr_t address, std::size_t bytes) const {
    for (std::uintptr_t word = address / 4; word * 4 < address + bytes; ++word) {
      if (const auto found = words_.find(word); found != words_.end()) return &found->second;
    }
    return nullptr;
  }

 private:
  struct queue {
    std::vector<copy> copies;
    std::uint64_t groups = 0;  // that are complete
  };
  std::unordered_map<std::uintptr_t, copy> words_;
  std::map<unsigned, queue> of_thread_;
};

}  // namespace lab::emulator
