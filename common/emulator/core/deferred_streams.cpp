#include "common/emulator/core/deferred_streams.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <random>
#include <stdexcept>
#include <utility>

#include "common/emulator/core/devices.hpp"

namespace lab::emulator {
namespace {

struct operation {
  std::function<void(const kernel_before&)> run;
  std::vector<std::size_t> after;  // numbers of the operations that must be done before
  int device;
  bool done = false;
  const void* kernel = nullptr;
  bool is_early = false;
};

std::function<void(const kernel_before&)> alone(std::function<void()> run) {
  if (!run) return nullptr;
  return [run = std::move(run)](const kernel_before&) { run(); };
}

}  // namespace

struct deferred_streams::state {
  explicit state(std::uint64_t its_seed) : seed(its_seed) {}

  std::uint64_t seed;
  std::mt19937_64 draw{seed};
  bool running = false;
  std::vector<operation> operations;
  std::map<cudaStream_t, std::vector<std::size_t>> tails;  // what comes next on a stream waits for
  std::map<cudaEvent_t, std::size_t> events;

  std::size_t add(const std::vector<cudaStream_t>& streams, std::function<void(const kernel_before&)> run,
                  const void* kernel = nullptr, bool is_early = false) {
    operation added{std::move(run), {}, device_of(streams.front()), false, kernel, is_early};
    for (const cudaStream_t stream : streams) {
      auto& tail = tails[stream];
      if (!tail.empty() && tail.front() == operations.size()) continue;  // named twice
      added.after.insert(added.after.end(), tail.begin(), tail.end());
      tail = {operations.size()};
    }
    operations.push_back(std::move(added));
    return operations.size() - 1;
  }

  // Does those of `wanted` and all that they need.
  void run(std::vector<std::size_t> wanted) {
    if (running) return;
    running = true;
    std::vector<bool> needed(operations.size(), false);
    while (!wanted.empty()) {
      const std::size_t number = wanted.back();
      wanted.pop_back();
      if (needed[number] || operations[number].done) continue;
      needed[number] = true;
      wanted.insert(wanted.end(), operations[number].after.begin(), operations[number].after.end());
    }
    for (;;) {
      std::vector<std::size_t> ready;
      for (std::size_t number = 0; number < operations.size(); ++number) {
        if (!needed[number] || operations[number].done) continue;
        const auto& after = operations[number].after;
        if (std::all_of(after.begin(), after.end(), [&](std::size_t k) { return operations[k].done; }))
          ready.push_back(number);
      }
      if (ready.empty()) break;
      const std::size_t number = choose(ready);
      const device_scope scope(operations[number].device);
      run_one(number, needed);
    }
    running = false;
  }

  // A kernel together with the one behind it that may begin early.
  void run_one(std::size_t number, const std::vector<bool>& needed) {
    operation& next = operations[number];
    next.done = true;
    if (!next.run) return;
    kernel_before first{next.kernel, [run = std::exchange(next.run, nullptr)] { run({}); }};
    for (std::size_t behind = number + 1; behind < operations.size() && next.kernel != nullptr; ++behind) {
      operation& second = operations[behind];
      if (!second.is_early || !needed[behind] || second.after != std::vector{number}) continue;
      second.done = true;
      return std::exchange(second.run, nullptr)(first);
    }
    first.run();
  }

  std::size_t choose(const std::vector<std::size_t>& ready) {
    if (seed == 0) return ready.front();
    if (seed == 1) return ready.back();
    return ready[draw() % ready.size()];
  }
};

namespace {
deferred_streams::state* active = nullptr;
}  // namespace

deferred_streams::deferred_streams(std::uint64_t seed) : state_(std::make_unique<state>(seed)) {
  if (active != nullptr) throw std::logic_error("streams are deferred already");
  active = state_.get();
}

deferred_streams::~deferred_streams() {
  run();
  active = nullptr;
}

void deferred_streams::run() {
  complete_all();
}

bool is_deferring() {
  return active != nullptr && !active->running;
}

void defer(cudaStream_t stream, std::function<void()> operation, const void* kernel) {
  active->add({stream}, alone(std::move(operation)), kernel);
}

void defer_early(cudaStream_t stream, std::function<void(const kernel_before&)> operation,
                 const void* kernel) {
  active->add({stream}, std::move(operation), kernel, true);
}

void defer_joint(const std::vector<cudaStream_t>& streams, std::function<void()> operation) {
  active->add(streams, alone(std::move(operation)));
}

void defer_record(cudaEvent_t event, cudaStream_t stream, std::function<void()> operation) {
  active->events[event] = active->add({stream}, alone(std::move(operation)));
}

void defer_wait(cudaStream_t stream, cudaEvent_t event) {
  // One that was never recorded is waited for by nobody.
  const auto found = active->events.find(event);
  if (found != active->events.end()) active->tails[stream].push_back(found->second);
}

void complete(cudaStream_t stream) {
  if (!is_deferring()) return;
  const auto found = active->tails.find(stream);
  if (found != active->tails.end()) active->run(found->second);
}

void complete(cudaEvent_t event) {
  if (!is_deferring()) return;
  const auto found = active->events.find(event);
  if (found != active->events.end()) active->run({found->second});
}

void complete_all() {
  if (!is_deferring()) return;
  std::vector<std::size_t> all(active->operations.size());
  for (std::size_t number = 0; number < all.size(); ++number) all[number] = number;
  active->run(std::move(all));
}

void pause_deferring() {
  complete_all();
  if (active != nullptr) active->running = true;
}

void resume_deferring() {
  if (active != nullptr) active->running = false;
}

}  // namespace lab::emulator
