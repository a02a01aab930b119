#include "common/emulator/core/launch_watch.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "common/emulator/core/deferred_streams.hpp"
#include "common/emulator/core/device_memory.hpp"
#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/fault_handler.hpp"
#include "common/emulator/core/fp_environment.hpp"
#include "common/emulator/core/runtime_call.hpp"
#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/core/thread_pool.hpp"

namespace lab::emulator {
namespace {

// What the signal handler notes: it can neither allocate nor take a lock.
class host_accesses {
 public:
  void add(const void* address, const char* verb) {
    const std::size_t mine = count_++;
    if (mine < noted_.size()) noted_[mine] = {address, verb};
  }

  std::vector<std::string> sentences() const {
    std::vector<std::string> texts;
    for (std::size_t number = 0; number < std::min(count_.load(), noted_.size()); ++number) {
      const auto& [address, verb] = noted_[number];
      texts.push_back(
          format("host code of the launch %s device memory itself, %s; kernels and the runtime's "
                 "functions can, and on a machine with a GPU this ends the program",
                 verb, device_memory::instance().describe(address).c_str()));
    }
    return texts;
  }

 private:
  std::array<std::pair<const void*, const char*>, 16> noted_{};
  std::atomic<std::size_t> count_{0};
};

// How many more threads there are than `before`. One that has been joined may be listed a moment longer: on a
// busy machine until it gets a processor again.
std::size_t threads_left(std::size_t before) {
  if (before == 0) return 0;
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (;;) {
    const std::size_t others = count_of_host_threads();
    if (others <= before) return 0;
    if (std::chrono::steady_clock::now() > patience) return others - before;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Whether this process has started another one that it has not waited for.
bool has_children() {
  siginfo_t ended{};
  return waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0;
}

}  // namespace

struct launch_watch::state {
  state(cudaStream_t its_stream, launch_rules its_rules) : stream(its_stream), rules(std::move(its_rules)) {}

  void add(std::string sentence) {
    const std::lock_guard lock(mutex);
    if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end())
      sentences.push_back(std::move(sentence));
  }

  const cudaStream_t stream;
  const launch_rules rules;
  const fp_environment before = fp_environment::current();
  const std::size_t threads_before = count_of_host_threads();
  const bool had_children = has_children();
  const fault_handling handling;
  host_accesses accesses;
  std::atomic<std::size_t> host_bytes{0};  // copied between host and device
  std::mutex mutex;
  std::vector<std::string> sentences;
};

namespace {

// The watch whose launch runs now, and the same unless it is paused.
std::atomic<launch_watch::state*> watched{nullptr};
std::atomic<bool> paused{false};

launch_watch::state* current_watch() {
  launch_watch::state* const watch = watched.load(std::memory_order_acquire);
  return watch != nullptr && !paused ? watch : nullptr;
}

}  // namespace

launch_watch::launch_watch(cudaStream_t stream, launch_rules rules)
    : state_(std::make_unique<state>(stream, std::move(rules))) {
  state* none = nullptr;
  if (!watched.compare_exchange_strong(none, state_.get()))
    throw std::logic_error("a launch is being watched already");
  prepare_signal_stack();
  device_memory::instance().protect();
}

launch_watch::~launch_watch() {
  violations();
}

std::vector<std::string> launch_watch::violations() {
  if (watched.load() != state_.get()) return state_->sentences;
  const fp_environment after = fp_environment::current();
  state_->before.apply();
  device_memory::instance().unprotect();
  watched = nullptr;
  for (std::string& sentence : state_->accesses.sentences()) state_->add(std::move(sentence));
  if (after != state_->before) {
    state_->add(
        "the launch left another rounding mode, or another flushing of denormals, than it found; it must "
        "change neither");
  }
  if (const std::size_t left = threads_left(state_->threads_before); left != 0) {
    state_->add(format("the launch left %zu host thread%s running; it may only enqueue work on its stream",
                       left, left == 1 ? "" : "s"));
  }
  if (has_children() && !state_->had_children)
    state_->add("the launch started a process; it may only enqueue work on its stream");
  return state_->sentences;
}

unwatched::unwatched(const launch_watch& watch) : paused_(current_watch() == watch.state_.get()) {
  if (!paused_) return;
  pause_deferring();
  paused = true;
  device_memory::instance().unprotect();
}

unwatched::~unwatched() {
  if (!paused_) return;
  device_memory::instance().protect();
  paused = false;
  resume_deferring();
}

// ---- what the runtime's functions tell

void note_stream(const char* function, cudaStream_t stream) {
  ++stream_calls;
  launch_watch::state* const watch = current_watch();
  if (watch == nullptr || stream == watch->stream) return;
  const auto& more = watch->rules.more_streams;
  if (std::find(more.begin(), more.end(), stream) != more.end()) return;
  watch->add(format("%s on %s; a launch may enqueue work on the stream that it is given alone", function,
                    stream == nullptr ? "the default stream" : "another stream"));
}

void note_allocation(const char* function) {
  launch_watch::state* const watch = current_watch();
  if (watch == nullptr || watch->rules.may_allocate) return;
  watch->add(
      format("%s in a launch, which may neither allocate nor free memory; what it needs it declares as "
             "workspace",
             function));
}

void note_synchronisation(const char* function) {
  ++stream_calls;
  launch_watch::state* const watch = current_watch();
  if (watch == nullptr || watch->rules.may_synchronise) return;
  watch->add(format("%s in a launch, which may not wait for the device; work on one stream is done in order",
                    function));
}

void note_host_copy(const char* function, std::size_t bytes) {
  ++stream_calls;
  launch_watch::state* const watch = current_watch();
  if (watch == nullptr) return;
  if (watch->rules.may_synchronise) {
    // A size, a border, a part's result: not the data, with which the host would do the device's work.
    constexpr std::size_t small = std::size_t{1} << 20;
    const std::size_t most = std::max(small, device_memory::instance().used(0) / 4);
    if (watch->host_bytes.fetch_add(bytes) + bytes > most) {
      watch->add(
          "a launch that copies more than 1 MiB, and more than a quarter of the device's memory that is in "
          "use, between "
          "host and device; what it computes is computed on the device");
    }
    return;
  }
  watch->add(
      format("%s between host and device memory in a launch; what it reads and writes is on the device, "
             "and small values are arguments of the kernel",
             function));
}

void note_forbidden(const char* function, const char* instead) {
  launch_watch::state* const watch = current_watch();
  if (watch != nullptr) watch->add(format("%s in a launch; %s", function, instead));
}

void note_device_choice() {
  launch_watch::state* const watch = current_watch();
  if (watch == nullptr || watch->rules.may_choose_device) return;
  watch->add("cudaSetDevice in a launch; a launch runs on the device that was chosen before it");
}

bool note_host_access(const void* address, const char* verb) {
  launch_watch::state* const watch = current_watch();
  if (watch == nullptr ||
      !device_memory::instance().open_after_fault(reinterpret_cast<std::uintptr_t>(address)))
    return false;
  watch->accesses.add(address, verb);
  return true;
}

}  // namespace lab::emulator
