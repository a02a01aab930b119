#include "common/emulator/observe/stream_order.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "common/emulator/core/device_memory.hpp"
#include "common/emulator/core/never_destroyed.hpp"
#include "common/emulator/core/observer.hpp"
#include "common/emulator/core/runtime_call.hpp"
#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/core/source_lines.hpp"

namespace lab::emulator {
namespace {

// Up to which number each stream's work is done.
using knowledge = std::map<cudaStream_t, std::uint64_t>;

enum class range_use { read, written, filled };
struct copy_range {
  std::uintptr_t begin;
  std::size_t bytes;
  range_use use;
  stream_work work;
  std::string call;
};

struct early_access {
  std::string line;
  std::function<void(bool)> tell;
};

struct order {
  std::mutex mutex;
  std::map<cudaStream_t, knowledge> streams;
  std::map<cudaEvent_t, knowledge> events;
  std::set<cudaStream_t> not_blocking;  // the default stream and they do not wait for each other
  knowledge host;
  stream_work latest;
  std::vector<copy_range> copies;
  std::vector<early_access> early;
};

order& the_order() {
  static never_destroyed<order> one;
  return *one;
}

class order_lock {
 public:
  explicit order_lock(order& all) : lock_(all.mutex) {}
  order_lock(const order_lock&) = delete;
  order_lock& operator=(const order_lock&) = delete;
  ~order_lock() { keeps_order = before_; }

 private:
  bool before_ = std::exchange(keeps_order, true);
  std::lock_guard<std::mutex> lock_;
};

bool is_kept() {
  return active_observer != nullptr && !inside_kernel();
}

cudaStream_t key_of(cudaStream_t stream) {
  if (stream_of_all != nullptr) stream = *stream_of_all;
  return stream == cudaStreamLegacy ? nullptr : stream;
}

void learn(knowledge& one, const knowledge& other) {
  for (const auto& [stream, number] : other) one[stream] = std::max(one[stream], number);
}

bool knows(const knowledge& one, const stream_work& work) {
  const auto found = one.find(work.stream);
  return found != one.end() && found->second >= work.number;
}

// What a stream's next work comes behind.
knowledge& before_next(order& all, cudaStream_t stream) {
  knowledge& own = all.streams[stream];
  if (all.not_blocking.contains(stream)) return own;
  if (stream != nullptr) {
    learn(own, all.streams[nullptr]);
    return own;
  }
  for (const auto& [other, done] : all.streams) {
    if (other != nullptr && !all.not_blocking.contains(other)) learn(own, done);
  }
  return own;
}

void host_learns(order& all, const knowledge& what) {
  learn(all.host, what);
  std::erase_if(all.copies, [&all](const copy_range& one) { return knows(all.host, one.work); });
  host_is_ahead = std::any_of(all.streams.begin(), all.streams.end(), [&all](const auto& one) {
    const auto own = one.second.find(one.first);
    return own != one.second.end() && !knows(all.host, {one.first, own->second});
  });
  if (host_is_ahead) return;
  used_begin = ~std::uintptr_t{0};
  used_end = 0;
}

// "main.cu:31": no line but the last of those from `first` to `last` ends a statement.
bool is_one_statement(const std::string& first, const std::string& last) {
  const std::size_t colon = first.rfind(':');
  if (colon == std::string::npos || last.substr(0, last.rfind(':')) != first.substr(0, colon)) return false;
  const int begin = std::atoi(first.c_str() + colon + 1), end = std::atoi(last.c_str() + colon + 1);
  if (begin >= end) return begin == end;
  std::ifstream file(first.substr(0, colon));
  std::string text;
  for (int line = 1; line < end; ++line) {
    if (!std::getline(file, text) || (line >= begin && text.find_first_of(";{}") != std::string::npos))
      return false;
  }
  return true;
}

void settle_early_accesses(std::string call) {
  order& all = the_order();
  std::vector<early_access> early;
  {
    const order_lock lock(all);
    early.swap(all.early);
  }
  if (early.empty()) return;
  if (call.ends_with(": ")) call.resize(call.size() - 2);
  for (const early_access& one : early)
    one.tell(is_one_statement(call, one.line) || is_one_statement(one.line, call));
}

// The host is in a call that waits.
void begin_wait() {
  order& all = the_order();
  {
    const order_lock lock(all);
    if (all.early.empty()) return;
  }
  settle_early_accesses(text_of_call());
}

}  // namespace

void note_early_access(const std::string& line, std::function<void(bool)> tell) {
  order& all = the_order();
  const order_lock lock(all);
  all.early.push_back({line, std::move(tell)});
}

void tell_early_accesses() {
  settle_early_accesses({});
}

void note_used(std::uintptr_t address, std::size_t bytes) {
  used_begin = std::min(used_begin.load(), address);
  used_end = std::max(used_end.load(), address + bytes);
}

bool is_done(const stream_work& work) {
  order& all = the_order();
  const order_lock lock(all);
  return work.number == 0 || knows(all.host, work);
}

stream_work latest_work() {
  order& all = the_order();
  const order_lock lock(all);
  return all.latest;
}

void host_waits_for(const stream_work& work) {
  order& all = the_order();
  const order_lock lock(all);
  host_learns(all, {{work.stream, work.number}});
}

namespace {

bool is_pageable(const void* pointer) {
  return !device_memory::instance().owns(pointer) && !is_host_memory_of_the_device(pointer);
}

void note_range(const void* pointer, std::size_t bytes, range_use use, const stream_work& work) {
  if (device_memory::instance().owns(pointer) && !device_memory::instance().is_managed(pointer)) return;
  const std::string call = text_of_call();
  order& all = the_order();
  const order_lock lock(all);
  all.copies.push_back({reinterpret_cast<std::uintptr_t>(pointer), bytes, use, work, call});
  note_used(all.copies.back().begin, bytes);
}

}  // namespace

namespace {

class kept_order final : public stream_listener {
 public:
  void enqueue(cudaStream_t stream) override { add(stream); }

  void note_new_stream(cudaStream_t stream, bool is_blocking) override {
    if (!is_kept()) return;
    order& all = the_order();
    const order_lock lock(all);
    if (is_blocking) {
      all.not_blocking.erase(stream);
    } else {
      all.not_blocking.insert(stream);
    }
  }

  void note_event(cudaEvent_t event, cudaStream_t stream) override {
    if (!is_kept()) return;
    order& all = the_order();
    const order_lock lock(all);
    all.events[event] = before_next(all, key_of(stream));
  }

  void note_waiting_stream(cudaStream_t stream, cudaEvent_t event) override {
    if (!is_kept()) return;
    order& all = the_order();
    const order_lock lock(all);
    learn(all.streams[key_of(stream)], all.events[event]);
  }

  void host_waits_for(cudaStream_t stream) override {
    if (!is_kept()) return;
    begin_wait();
    order& all = the_order();
    const order_lock lock(all);
    const cudaStream_t key = key_of(stream);
    host_learns(all, key == nullptr ? before_next(all, key) : all.streams[key]);
  }

  void host_waits_for(cudaEvent_t event) override {
    if (!is_kept()) return;
    begin_wait();
    order& all = the_order();
    const order_lock lock(all);
    host_learns(all, all.events[event]);
  }

  void host_waits_for_all() override {
    if (!is_kept()) return;
    begin_wait();
    order& all = the_order();
    const order_lock lock(all);
    for (const auto& [stream, done] : all.streams) learn(all.host, done);
    host_learns(all, {});
  }

  void note_copy(const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes,
                 cudaStream_t stream) override {
    if (!is_kept() || to_bytes == 0) return;
    const stream_work work = add(stream);
    if (is_pageable(to) || is_pageable(from)) return host_waits_for(stream);
    note_range(to, to_bytes, range_use::written, work);
    note_range(from, from_bytes, range_use::read, work);
  }

  void note_fill(const void* to, std::size_t bytes, cudaStream_t stream) override {
    if (!is_kept() || bytes == 0 || is_pageable(to)) return;
    note_range(to, bytes, range_use::filled, add(stream));
  }

 private:
  stream_work add(cudaStream_t stream) {
    if (!is_kept()) return {};
    order& all = the_order();
    const order_lock lock(all);
    const cudaStream_t key = key_of(stream);
    all.latest = {key, ++before_next(all, key)[key]};
    host_is_ahead = true;
    return all.latest;
  }
};

}  // namespace

void keep_stream_order() {
  static constinit kept_order one;
  active_stream_listener = &one;
}

unfinished_copy find_copy(std::uintptr_t address, std::size_t bytes, bool host_writes) {
  order& all = the_order();
  const order_lock lock(all);
  for (const copy_range& one : all.copies) {
    if (one.use == range_use::read && !host_writes) continue;
    if (address < one.begin + one.bytes && one.begin < address + bytes)
      return {true, one.use == range_use::read, one.use == range_use::filled, one.call};
  }
  return {};
}

}  // namespace lab::emulator
