#include "harness/front/process/interrupt.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "harness/front/process/errors.hpp"

namespace lab::front {
namespace {

volatile std::sig_atomic_t interrupt_came = 0;
int pipe_ends[2] = {-1, -1};

void on_interrupt(int) {
  const int saved_errno = errno;
  interrupt_came = 1;
  const char byte = 0;
  // The pipe does not block: when it is full, it is readable already and nothing is lost.
  [[maybe_unused]] const auto written = write(pipe_ends[1], &byte, 1);
  errno = saved_errno;
}

// Ctrl-C before catch_interrupts(), while libraries and this program's own objects are set up.
[[gnu::constructor(101)]] void end_on_interrupts() {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal_number, [](int) { _exit(exit_interrupted); });
}

}  // namespace

void catch_interrupts() {
  if (pipe_ends[0] >= 0) return;
  if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal_number, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  // A write beyond `ulimit -f` is then an error that names its file. Workers inherit this.
  std::signal(SIGXFSZ, SIG_IGN);
}

bool was_interrupted() {
  return interrupt_came != 0;
}

int interrupt_descriptor() {
  return pipe_ends[0];
}

void throw_if_interrupted() {
  if (was_interrupted()) throw interrupted();
}

}  // namespace lab::front
