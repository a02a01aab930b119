#include "common/emulator/observe/counting_threads.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <system_error>
#include <utility>

#include "common/emulator/core/thread_pool.hpp"

namespace lab::emulator {
namespace {

// Of one thread each, so that they start one by one. Never destroyed: the process may end within a kernel.
thread_pool& pool(std::size_t number) {
  static auto* const pools = new std::deque<thread_pool>;
  while (pools->size() <= number) pools->emplace_back();
  return (*pools)[number];
}

std::atomic<std::uint64_t> counted_elsewhere{0};

}  // namespace

std::uint64_t batches_counted_elsewhere() {
  return counted_elsewhere;
}

void counting_threads::begin(int limit) {
  stop();
  workers_.clear();
  failure_ = nullptr;
  // A child of the process that has started them has no such threads.
  static const pid_t process = getpid();
  limit_ = getpid() == process ? static_cast<std::size_t>(std::max(0, limit)) : 0;
  batches_ = 0;
}

bool counting_threads::is_worth_it(const warp_trace& trace) {
  std::uint32_t sum = 0;
  bool all_alike = true;
  for (const lane_stream& stream : trace.streams()) {
    sum += stream.count;
    all_alike = all_alike && stream.count == trace.streams()[0].count;
  }
  return !all_alike && sum >= fewest_events;
}

std::unique_ptr<warp_events> counting_threads::take_empty() {
  if (workers_.empty() && !start_worker()) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!empty_.empty()) {
      std::unique_ptr<warp_events> empty = std::move(empty_.back());
      empty_.pop_back();
      return empty;
    }
  }
  // For each thread what it counts and what it takes next.
  const auto has_all = [this] { return places_ >= 2 * workers_.size(); };
  if (has_all() && (!start_worker() || has_all())) return nullptr;
  ++places_;
  return std::make_unique_for_overwrite<warp_events>();
}

void counting_threads::give(std::unique_ptr<warp_events> events) {
  {
    const std::lock_guard lock(mutex_);
    full_.push_back(std::move(events));
  }
  given_.notify_one();
}

bool counting_threads::start_worker() {
  if (workers_.size() >= limit_) return false;
  try {
    auto one = std::make_unique<worker>(program_bytes_);
    one->work = [this, self = one.get()] { serve(*self); };
    workers_.reserve(limit_);
    pool(workers_.size()).start(1, one->work);
    workers_.push_back(std::move(one));
    return true;
  } catch (const std::system_error&) {  // the machine gives no more threads
  } catch (const std::bad_alloc&) {
  }
  limit_ = workers_.size();
  return false;
}

void counting_threads::serve(worker& self) {
  std::unique_lock lock(mutex_);
  for (;;) {
    given_.wait(lock, [this] { return stop_ || !full_.empty(); });
    if (full_.empty()) return;
    std::unique_ptr<warp_events> events = std::move(full_.front());
    full_.pop_front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      count(self, *events);
    } catch (...) {
      failure = std::current_exception();
    }
    events->clear();
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    empty_.push_back(std::move(events));
  }
}

void counting_threads::count(worker& self, warp_events& events) {
  if (!events.is_grouped) self.grouping.group(events, 0);
  self.counter.count(events, self.sites);
  ++counted_elsewhere;
}

// Ends the threads' work, once they have done what was given.
void counting_threads::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  given_.notify_all();
  for (std::size_t number = 0; number < workers_.size(); ++number) pool(number).wait();
  stop_ = false;
  limit_ = 0;
}

void counting_threads::finish(site_table& sites) {
  stop();
  const auto workers = std::exchange(workers_, {});
  if (const auto failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
  for (const auto& one : workers) sites += one->sites;
}

}  // namespace lab::emulator
