#include "common/emulator/core/spin_watch.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "common/emulator/core/machine_context.hpp"
#include "common/emulator/core/program_symbols.hpp"
#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/core/source_lines.hpp"

namespace lab::emulator {
namespace {

constexpr long first_tick_ns = 50'000'000, tick_ns = 2'000'000;

int tick_signal() {
  return SIGRTMIN + 6;
}

struct code_range {
  std::uintptr_t begin, end;
};

// The functions in which a thread may not be stopped, by address: the emulator's, and the library's that it
// calls. CUDA's atomic functions are simple enough.
std::vector<code_range> read_own_code() {
  static constexpr const char* beginnings[] = {"_ZN3lab8emulator",
                                               "_ZNK3lab8emulator",
                                               "_ZZN3lab8emulator",
                                               "_ZN5boost",
                                               "_ZSt",
                                               "_ZNSt",
                                               "_ZNKSt",
                                               "_ZN9__gnu_cxx",
                                               "_Zn",
                                               "_Zd",
                                               "__tsan_",
                                               "__sanitizer_",
                                               "lab_emulator_",
                                               "make_fcontext",
                                               "jump_fcontext",
                                               "ontop_fcontext"};
  std::vector<code_range> ranges;
  for (const program_symbol& symbol : program_symbols()) {
    const bool own =
        std::any_of(std::begin(beginnings), std::end(beginnings),
                    [&symbol](const char* beginning) { return symbol.name.starts_with(beginning); });
    if (symbol.is_function && own)
      ranges.push_back({symbol.value, symbol.value + std::max<std::size_t>(symbol.bytes, 64)});
  }
  std::sort(ranges.begin(), ranges.end(), [](auto a, auto b) { return a.begin < b.begin; });
  return ranges;
}

const std::vector<code_range>& own_code() {
  static const std::vector<code_range> ranges = read_own_code();
  return ranges;
}

std::atomic<std::uintptr_t> interrupted_at{0};
std::atomic<int> watches{0};

void on_tick(int, siginfo_t*, void* context) {
  const std::uintptr_t instruction = instruction_pointer(context);
  if (is_users_code(instruction)) interrupted_at.store(instruction, std::memory_order_relaxed);
  tick(context);
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    own_code();
    the_program();
    struct sigaction action {};
    action.sa_sigaction = on_tick;
    // On the interrupted stack, and not masked: the handler may switch to another fiber and return much
    // later.
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(tick_signal(), &action, nullptr);
  });
}

// The timer of an OS thread, made once.
class thread_timer {
 public:
  thread_timer() {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = tick_signal();
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    exists_ = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
  }
  thread_timer(const thread_timer&) = delete;
  thread_timer& operator=(const thread_timer&) = delete;
  ~thread_timer() {
    if (exists_) timer_delete(timer_);
  }
  void set(long first, long interval) {
    const itimerspec when{.it_interval = {0, interval}, .it_value = {0, first}};
    if (exists_) timer_settime(timer_, 0, &when, nullptr);
  }

 private:
  timer_t timer_{};
  bool exists_ = false;
};

thread_timer& the_timer() {
  static thread_local thread_timer timer;
  return timer;
}

}  // namespace

spin_watch::spin_watch() {
  install_handler();
  ++watches;
  the_timer().set(first_tick_ns, tick_ns);
}
spin_watch::~spin_watch() {
  the_timer().set(0, 0);
  if (--watches == 0) interrupted_at = 0;
}

const void* last_interrupted_at() {
  return reinterpret_cast<const void*>(interrupted_at.load(std::memory_order_relaxed));
}

bool is_users_code(std::uintptr_t address) {
  const std::uintptr_t offset = address - the_program().begin;
  if (offset >= the_program().bytes) return false;
  const auto& ranges = own_code();
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), offset,
                       [](std::uintptr_t value, const code_range& one) { return value < one.begin; });
  return after == ranges.begin() || offset >= std::prev(after)->end;
}

__attribute__((no_sanitize_address)) std::uint64_t digest_of(std::uint64_t digest, const void* begin,
                                                             const void* end) {
  const auto* word = reinterpret_cast<const std::uint64_t*>(reinterpret_cast<std::uintptr_t>(begin) / 8 * 8);
  for (; word < static_cast<const std::uint64_t*>(end); ++word)
    digest = (digest ^ *word ^ digest >> 29) * 0x9e3779b97f4a7c15u;
  return digest;
}

std::uint64_t digest_of_interrupted(void* context, std::uintptr_t stack_end) {
  constexpr std::uintptr_t red_zone = 128;
  return digest_of(digest_of_registers(context),
                   reinterpret_cast<const void*>(stack_pointer(context) - red_zone),
                   reinterpret_cast<const void*>(stack_end));
}

namespace {

// From its own frame on: all of its caller's is above that.
__attribute__((noinline)) std::uint64_t digest_of_frames(std::uintptr_t stack_end) {
  return digest_of(1, __builtin_frame_address(0), reinterpret_cast<const void*>(stack_end));
}

}  // namespace

__attribute__((noinline)) std::uint64_t digest_of_caller(std::uintptr_t stack_end) {
  // The registers that a function keeps for its caller are in this frame now, a loop's counter among them.
  __builtin_unwind_init();
  const std::uint64_t digest = digest_of_frames(stack_end);
  asm volatile("");  // the frame is there until then: the call is not the last thing done
  return digest;
}

}  // namespace lab::emulator
