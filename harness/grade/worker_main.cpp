// The program of a worker whose stage somebody else has written, and gains by: the request is taken from its
// pipe before any of the stage's code has run, static initialisers included, and every line of the answer
// carries a seal that only its key's owner can make (seal.hpp).
//
// What is sealed has internal linkage: the stage is linked into the same program, and could call what has a
// name there.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/device/worker_main.hpp"
#include "harness/grade/seal.hpp"
#include "harness/protocol.hpp"

namespace lab {
namespace {

// The kernel asked directly: a stage may define `write` or `clock_gettime` itself, and the linker would then
// hand the harness that one. Its answer: negative is an error number. Never a function of its own, which a
// stage could define as well.
[[gnu::always_inline]] inline long system_call(long number, long first = 0, long second = 0, long third = 0) {
#if defined(__x86_64__)
  long result = number;
  asm volatile("syscall" : "+a"(result) : "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long result asm("x0") = first;
  register long x1 asm("x1") = second;
  register long x2 asm("x2") = third;
  register long x8 asm("x8") = number;
  asm volatile("svc 0" : "+r"(result) : "r"(x1), "r"(x2), "r"(x8) : "memory");
  return result;
#else
  return ::syscall(number, first, second, third);
#endif
}

// What take_request() found. It runs before constructors do, so none may set this back.
struct one_request {
  bool begun = false;
  int answers = -1;
  long process = 0;
  seal_key key;
  std::uint64_t lines_sent = 0;
  std::size_t request_bytes = 0;
  // Requests hold paths, a few kilobytes each at most.
  std::array<char, std::size_t{1} << 18> text{};
};
constinit one_request state;

[[gnu::no_sanitize("address", "undefined")]] bool same_text(const char* a, const char* b) {
  for (; *a == *b; ++a, ++b) {
    if (*a == '\0') return true;
  }
  return false;
}

[[gnu::no_sanitize("address", "undefined")]] std::uint64_t hexadecimal_at(const char* digits) {
  std::uint64_t value = 0;
  for (int i = 0; i < 16; ++i)
    value =
        value << 4 | static_cast<std::uint64_t>(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
  return value;
}

// Reads "<key, 32 digits> <request>\n", and moves the answers' pipe to a number that only this file knows.
// Runs before the constructors of this program, so it uses nothing that needs one.
[[gnu::no_sanitize("address", "undefined")]] void take_request(int count, char** arguments,
                                                               char** /*environment*/) {
  bool serves = false;
  for (int i = 1; i < count; ++i) serves |= same_text(arguments[i], "--serve");
  if (!serves) return;
  std::size_t got = 0;
  while (got < state.text.size() && (got == 0 || state.text[got - 1] != '\n')) {
    const long more = system_call(SYS_read, request_descriptor, reinterpret_cast<long>(&state.text[got]),
                                  static_cast<long>(state.text.size() - got));
    if (more == -EINTR) continue;
    if (more <= 0) return;
    got += static_cast<std::size_t>(more);
  }
  constexpr std::size_t key_digits = 32;
  if (got < key_digits + 2) return;
  state.key = {hexadecimal_at(&state.text[0]), hexadecimal_at(&state.text[16])};
  for (std::size_t i = 0; i < key_digits; ++i) state.text[i] = ' ';
  state.request_bytes = got;
  state.process = system_call(SYS_getpid);
  const long lowest = 64 + static_cast<long>(state.key.low % 400);
  state.answers = static_cast<int>(system_call(SYS_fcntl, answer_descriptor, F_DUPFD_CLOEXEC, lowest));
  system_call(SYS_close, request_descriptor);
  system_call(SYS_close, answer_descriptor);
  state.begun = true;
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_constructors)(int, char**,
                                                                                char**) = take_request;

class sealed_lines final : public conversation {
 public:
  std::string request() override { return {state.text.data(), state.request_bytes}; }

  // In a process without a request nothing is said, nor in one that was forked from the worker: only the
  // worker itself answers.
  void say(const nlohmann::json& line) override {
    if (!state.begun || system_call(SYS_getpid) != state.process) return;
    // Bytes that are not UTF-8 may stand in a stage's strings.
    const std::string text = sealed(state.key, state.lines_sent++, text_of(line)) + "\n";
    for (std::string_view rest = text; !rest.empty();) {
      const long written = system_call(SYS_write, state.answers, reinterpret_cast<long>(rest.data()),
                                       static_cast<long>(rest.size()));
      if (written == -EINTR) continue;
      if (written <= 0) return;  // nobody reads any more
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }
};

}  // namespace
}  // namespace lab

int main(int argc, char** argv) {
  lab::sealed_lines with;
  return lab::worker_main(argc, argv, with);
}
