#include "common/emulator/programs/program_report.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "common/emulator/core/device_memory.hpp"
#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/emulator.hpp"
#include "common/emulator/core/observer.hpp"
#include "common/emulator/core/runtime_call.hpp"
#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/core/source_lines.hpp"
#include "common/emulator/core/spin_watch.hpp"
#include "common/emulator/programs/known_launches.hpp"

namespace lab::emulator {
namespace {

std::atomic<bool> is_written{false};

// Once, whichever end comes first. Written to a name of its own, so that half a report is none.
void write_report() {
  const char* const path = std::getenv("LAB_EMULATE_REPORT");
  if (path == nullptr || *path == '\0' || is_written.exchange(true)) return;
  observed_kernels_text observed;
  if (describe_observed_kernels != nullptr) observed = describe_observed_kernels();
  std::string text =
      format("{\"failed\": %s, \"diagnostics\": [", sticky_error() != cudaSuccess ? "true" : "false");
  const char* separator = "";
  for (const std::string& diagnostic : take_diagnostics()) {
    text += separator + json_string(diagnostic);
    separator = ", ";
  }
  text += format("], \"recalled_launches\": %llu", static_cast<unsigned long long>(recalled_launches()));
  if (!observed.kernels.empty())
    text += ", \"kernels\": " + observed.kernels + ", \"warnings\": " + observed.warnings;
  text += "}\n";
  const std::string draft = std::string(path) + ".draft";
  std::FILE* const file = std::fopen(draft.c_str(), "w");
  if (file == nullptr) return;
  const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && whole) std::rename(draft.c_str(), path);
}

// abort(), a fault of the host's code and a request to end run no destructors. Not everything here may be
// called in a signal handler; what hangs is ended by the front.
void write_and_die(int signal_number) {
  if (const void* const place = last_interrupted_at(); signal_number == SIGTERM && place != nullptr)
    add_diagnostic(text_of_instruction(place) + "a kernel was here when the program was ended");
  write_report();
  ::signal(signal_number, SIG_DFL);
  raise(signal_number);
}

struct at_the_end {
  at_the_end() {
    options wanted = configuration();
    wanted.is_program = true;
    configure(wanted);
    if (std::getenv("LAB_EMULATE_REPORT") == nullptr) return;
    static_cast<void>(diagnostics());  // the log must live longer than this
    std::atexit(write_report);
    for (const int signal_number : {SIGABRT, SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
      ::signal(signal_number, write_and_die);
  }
};
// Behind observed_program.cpp, so that what it needs lives longer.
[[gnu::init_priority(103)]] const at_the_end registered;

}  // namespace

std::string json_string(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      result += format("\\u%04x", static_cast<unsigned>(byte));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace lab::emulator
