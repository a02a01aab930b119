#include "common/emulator/core/fault_handler.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "common/emulator/core/machine_context.hpp"
#include "common/emulator/core/runtime_call.hpp"
#include "common/emulator/core/scheduler.hpp"

namespace lab::emulator {
namespace {

std::array<struct sigaction, fault_signals.size()> previous{};

constexpr int si_kernel = 0x80;  // SI_KERNEL, which not every header has

machine_fault describe(int signal, const siginfo_t& information, void* context) {
  const auto* const instruction = reinterpret_cast<const void*>(instruction_pointer(context));
  if (signal == SIGFPE)
    return {"divides an integer by zero, or beyond what its type can hold", false, nullptr, instruction};
  if (signal == SIGILL)
    return {"comes to an instruction that the CPU does not have (a trap)", false, nullptr, instruction};
  // The machine does not say which address it was where it is none at all, or not aligned as a vector must
  // be.
  if (signal == SIGSEGV && information.si_code == si_kernel)
    return {"accesses memory at a misaligned address, or at one that is never valid", false, nullptr,
            instruction};
  return {verb_of_fault(context), true, information.si_addr, instruction};
}

void handle(int signal, siginfo_t* information, void* context) {
  // A positive code is the machine's; others are signals that somebody has sent.
  if (information->si_code > 0) {
    const machine_fault fault = describe(signal, *information, context);
    if (divert_fault(fault, context)) return;
    if (fault.in_memory && note_host_access(fault.address, fault.what)) return;
  }
  // What has faulted is done again, and faults again, now for the handler that was there before.
  for (std::size_t number = 0; number < fault_signals.size(); ++number) {
    if (fault_signals[number] == signal) sigaction(signal, &previous[number], nullptr);
  }
  if (information->si_code <= 0) raise(signal);
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == handle;
}

// The signal stack of an OS thread; freed with the thread.
class signal_stack {
 public:
  signal_stack() {
    stack_t present{};
    if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) return;
    const stack_t own{.ss_sp = memory_, .ss_flags = 0, .ss_size = bytes};
    sigaltstack(&own, nullptr);
  }
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;
  ~signal_stack() {
    if (memory_ == MAP_FAILED) return;
    stack_t present{};
    if (sigaltstack(nullptr, &present) == 0 && present.ss_sp == memory_) {
      const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
      sigaltstack(&none, nullptr);
    }
    munmap(memory_, bytes);
  }

 private:
  static constexpr std::size_t bytes = 64 * 1024;
  void* memory_ = MAP_FAILED;
};

}  // namespace

fault_handling::fault_handling() {
  for (std::size_t number = 0; number < fault_signals.size(); ++number) {
    struct sigaction present {};
    if (sigaction(fault_signals[number], nullptr, &present) != 0 || is_ours(present)) continue;
    previous[number] = present;
    struct sigaction own {};
    own.sa_sigaction = handle;
    own.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&own.sa_mask);
    installed_[number] = sigaction(fault_signals[number], &own, nullptr) == 0;
  }
}

fault_handling::~fault_handling() {
  for (std::size_t number = 0; number < fault_signals.size(); ++number) {
    struct sigaction present {};
    if (installed_[number] && sigaction(fault_signals[number], nullptr, &present) == 0 && is_ours(present))
      sigaction(fault_signals[number], &previous[number], nullptr);
  }
}

void prepare_signal_stack() {
  static thread_local const signal_stack stack;
}

}  // namespace lab::emulator
