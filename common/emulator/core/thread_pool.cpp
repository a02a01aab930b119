#include "common/emulator/core/thread_pool.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace lab::emulator {
namespace {

// The system's numbers of all helpers that run.
struct helper_numbers {
  std::mutex mutex;
  std::vector<pid_t> numbers;
};
helper_numbers& the_helpers() {
  // Never destroyed, since a pool may end with the program.
  static auto* const helpers = new helper_numbers;
  return *helpers;
}

}  // namespace

thread_pool::~thread_pool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  helpers_ -= threads_.size();
}

void thread_pool::run(int count, const std::function<void()>& work) {
  if (count <= 1) return work();
  start(count - 1, work);
  work();
  wait();
}

void thread_pool::start(int count, const std::function<void()>& work) {
  {
    const std::lock_guard lock(mutex_);
    while (threads_.size() < static_cast<std::size_t>(count)) {
      threads_.emplace_back(&thread_pool::serve, this, static_cast<int>(threads_.size()));
      ++helpers_;
    }
    work_ = &work;
    wanted_ = busy_ = count;
    ++round_;
  }
  start_.notify_all();
}

void thread_pool::wait() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void thread_pool::serve(int number) {
  helper_numbers& helpers = the_helpers();
  {
    const std::lock_guard guard(helpers.mutex);
    helpers.numbers.push_back(gettid());
  }
  unsigned long seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return stop_ || (round_ != seen && number < wanted_); });
    if (stop_) {
      const std::lock_guard guard(helpers.mutex);
      std::erase(helpers.numbers, gettid());
      return;
    }
    seen = round_;
    lock.unlock();
    (*work_)();
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

std::optional<std::uint64_t> time_of_other_threads() {
  if (count_of_host_threads() == 1) return 0;
  DIR* const tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return std::nullopt;
  std::uint64_t sum = 0;
  helper_numbers& helpers = the_helpers();
  const std::lock_guard guard(helpers.mutex);
  while (const dirent* const entry = readdir(tasks)) {
    const auto task = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (task == 0 || task == gettid() ||
        std::find(helpers.numbers.begin(), helpers.numbers.end(), task) != helpers.numbers.end())
      continue;
    // Linux' clock of a thread by its number: clock_getcpuclockid(3) has that of processes alone.
    const clockid_t clock = (~task << 3) | 6;
    timespec taken{};
    if (clock_gettime(clock, &taken) != 0) continue;
    sum += static_cast<std::uint64_t>(taken.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(taken.tv_nsec) + 1;
  }
  closedir(tasks);
  return sum;
}

std::size_t count_of_host_threads() {
  struct stat tasks {};
  if (stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink < 3) return 0;
  return tasks.st_nlink - 2 - thread_pool::helpers();
}

}  // namespace lab::emulator
