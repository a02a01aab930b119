#include "harness/front/output/terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "harness/front/output/format.hpp"

namespace lab::front {
namespace {

bool is_terminal(int descriptor) {
  const char* name = std::getenv("TERM");
  return isatty(descriptor) == 1 && name != nullptr && std::string_view(name) != "dumb";
}

std::size_t terminal_width(int descriptor) {
  winsize size = {};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

bool standard_output_has_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  return is_terminal(STDOUT_FILENO) && (no_colour == nullptr || *no_colour == '\0');
}

std::size_t standard_output_width() {
  return is_terminal(STDOUT_FILENO) ? terminal_width(STDOUT_FILENO) : 0;
}

void keep_standard_descriptors() {
  // The lowest free number is taken, so that each opens its own.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    const int flags = descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR;
    if (open("/dev/null", flags) < 0) std::abort();
  }
}

std::string lost_output() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int error = errno;
  if (flushed && std::ferror(stdout) == 0) return "";
  pollfd reader{STDOUT_FILENO, POLLOUT, 0};
  if (error == EPIPE || (poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0)) return "";
  return flushed ? "an earlier write failed" : std::strerror(error);
}

status_line::status_line() : status_line(is_terminal(STDERR_FILENO), std::chrono::seconds(30)) {}

void status_line::show(const std::string& text) {
  if (!is_terminal_) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_line_ < between_lines_) return;
    last_line_ = now;
    std::fprintf(stderr, "%s\n", text.c_str());
    return;
  }
  if (text == shown_) return;
  shown_ = text;
  // One column is left free: a full line would wrap, and could not be rewritten.
  std::fprintf(stderr, "\r\033[K%s", shortened(text, terminal_width(STDERR_FILENO) - 1).c_str());
  std::fflush(stderr);
}

void status_line::clear() {
  if (shown_.empty()) return;
  shown_.clear();
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

void status_line::print(const std::string& line) {
  const std::string status = shown_;
  clear();
  std::fprintf(stderr, "%s\n", line.c_str());
  if (!status.empty()) show(status);
}

}  // namespace lab::front
