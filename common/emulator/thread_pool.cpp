#include "common/emulator/thread_pool.hpp"

#include <sys/stat.h>

namespace lab::emulator {

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
  const auto helpers = static_cast<std::size_t>(count - 1);
  {
    const std::lock_guard lock(mutex_);
    while (threads_.size() < helpers) {
      threads_.emplace_back(&thread_pool::serve, this, static_cast<int>(threads_.size()));
      ++helpers_;
    }
    work_ = &work;
    wanted_ = busy_ = count - 1;
    ++round_;
  }
  start_.notify_all();
  work();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void thread_pool::serve(int number) {
  unsigned long seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return stop_ || (round_ != seen && number < wanted_); });
    if (stop_) return;
    seen = round_;
    lock.unlock();
    (*work_)();
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

std::size_t count_of_host_threads() {
  struct stat tasks {};
  if (stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink < 3) return 0;
  return tasks.st_nlink - 2 - thread_pool::helpers();
}

}  // namespace lab::emulator
