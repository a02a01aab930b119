// The worker's end of the conversation: the one request that this process answers, and the sealed lines of
// the answer. Of several processes that a launcher of MPI's has started, rank 0 has it: descriptors above 2
// do not survive such a launcher, so that it calls the front by a socket in a folder of the front's. The
// others of its host do not get past this before it has called: nothing of a stage's could call in its place.
//
// All of it has internal linkage and is included by main.cpp alone: the stage is linked into the same
// program, and what has a name there it could call, to seal an answer of its own.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/device/system_call.hpp"
#include "harness/protocol.hpp"
#include "harness/seal.hpp"

namespace lab::conversation {
namespace {

// What take_request() found. It runs before constructors do, so none may set this back.
struct one_request {
  bool begun = false;
  bool is_rank_0 = false;
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

// The value of an environment variable; null where there is none.
[[gnu::no_sanitize("address", "undefined")]] const char* variable(char** environment, const char* name) {
  for (; *environment != nullptr; ++environment) {
    const char* a = *environment;
    const char* b = name;
    while (*b != '\0' && *a == *b) {
      ++a;
      ++b;
    }
    if (*b == '\0' && *a == '=') return a + 1;
  }
  return nullptr;
}

// The rank that the launcher has given this process: Open MPI and Slurm's pmix, MPICH and Slurm's pmi2, and
// Slurm itself last, whose variable a launcher within one task hands on. Null where none says it.
[[gnu::no_sanitize("address", "undefined")]] const char* rank_of(char** environment) {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* const rank = variable(environment, name)) return rank;
  }
  return nullptr;
}

// A connection to the socket whose path is these two; negative where there is none.
[[gnu::no_sanitize("address", "undefined")]] int call_front(const char* path, const char* ending) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::size_t length = 0;
  for (const char* part : {path, ending}) {
    for (; *part != '\0'; ++part) {
      if (length + 1 >= sizeof address.sun_path) return -1;
      address.sun_path[length++] = *part;
    }
  }
  const long own = system_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (own < 0) return -1;
  long code = -EINTR;
  while (code == -EINTR)
    code = system_call(SYS_connect, own, reinterpret_cast<long>(&address), sizeof address);
  if (code == 0) return static_cast<int>(own);
  system_call(SYS_close, own);
  return -1;
}

// Returns when rank 0 has called, which ends the call of this process; at once where it has called already,
// and on other hosts, where there is no such socket.
[[gnu::no_sanitize("address", "undefined")]] void wait_for_rank_0(const char* path) {
  const int call = call_front(path, socket_of_others);
  if (call < 0) return;
  char nothing = 0;
  long count = -EINTR;
  while (count == -EINTR) count = system_call(SYS_read, call, reinterpret_cast<long>(&nothing), 1);
  system_call(SYS_close, call);
}

// A process without a rank could be any of them: it ends.
[[noreturn, gnu::no_sanitize("address", "undefined")]] void end_without_rank() {
  static constexpr char text[] =
      "rank unknown: the launcher sets none of OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK and SLURM_PROCID\n";
  system_call(SYS_write, 2, reinterpret_cast<long>(text), sizeof text - 1);
  for (;;) system_call(SYS_exit_group, 2);
}

// Reads "<key, 32 digits> <request>\n", and moves the answers' pipe to a number that only this file knows.
// Runs before the constructors of this program, so it uses nothing that needs one.
[[gnu::no_sanitize("address", "undefined")]] void take_request(int count, char** arguments,
                                                               char** environment) {
  bool serves = false;
  const char* socket = nullptr;
  for (int i = 1; i < count; ++i) {
    serves |= same_text(arguments[i], "--serve");
    if (i + 1 < count && same_text(arguments[i], "--serve-at")) socket = arguments[i + 1];
  }
  int requests = request_descriptor;
  int answers = answer_descriptor;
  if (socket != nullptr) {
    const char* const rank = rank_of(environment);
    if (rank == nullptr) end_without_rank();
    state.is_rank_0 = same_text(rank, "0");
    if (!state.is_rank_0) return wait_for_rank_0(socket);
    requests = answers = call_front(socket, "");
    if (requests < 0) return;
  } else if (!serves) {
    return;
  }
  std::size_t got = 0;
  while (got < state.text.size() && (got == 0 || state.text[got - 1] != '\n')) {
    const long more = system_call(SYS_read, requests, reinterpret_cast<long>(&state.text[got]),
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
  const long place = 64 + static_cast<long>(state.key.low % 400);
  state.answers = static_cast<int>(system_call(SYS_fcntl, answers, F_DUPFD_CLOEXEC, place));
  system_call(SYS_close, requests);
  if (answers != requests) system_call(SYS_close, answers);
  state.begun = true;
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_constructors)(int, char**,
                                                                                char**) = take_request;

// The request that came with the start of the process (`--serve`): taken from the pipe before any of the
// stage's code has run, static initialisers included. Empty where there is none.
// Empty too where rank 0 has reached no front.
std::string_view request() {
  return {state.text.data(), state.request_bytes};
}

// Whether the launcher calls this process rank 0.
[[maybe_unused]] bool is_rank_0() {
  return state.is_rank_0;
}

// Sends one line of the answer. Does nothing in a process without a request, nor in one that was forked from
// the worker: only the worker itself answers.
void say(const nlohmann::json& line) {
  if (!state.begun || system_call(SYS_getpid) != state.process) return;
  // Bytes that are not UTF-8 may stand in a stage's strings.
  std::string text = sealed(state.key, state.lines_sent++, text_of(line)) + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    const long written = system_call(SYS_write, state.answers, reinterpret_cast<long>(rest.data()),
                                     static_cast<long>(rest.size()));
    if (written == -EINTR) continue;
    if (written <= 0) return;  // nobody reads any more
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

[[maybe_unused]] void say_progress(const std::string& what) {
  say({{"progress", what}});
}

// Between these two the worker launches the stage `launches` times and does nothing else, so that the front
// can hold its own clock beside the worker's: `nanoseconds` is what passed by the latter.
[[maybe_unused]] void say_sampling_begins() {
  say({{"sampling", "begins"}});
}

[[maybe_unused]] void say_sampling_ended(std::int64_t launches, std::int64_t nanoseconds) {
  say({{"sampling", "ended"}, {"launches", launches}, {"nanoseconds", nanoseconds}});
}

}  // namespace
}  // namespace lab::conversation
