// A worker's program: its conversation goes through two pipes, a line each way at a time.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "harness/device/worker_main.hpp"
#include "harness/protocol.hpp"

namespace {

class pipes final : public lab::conversation {
 public:
  std::string request() override {
    std::string text;
    char buffer[1 << 16];
    while (text.empty() || text.back() != '\n') {
      const ssize_t got = read(lab::request_descriptor, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      text.append(buffer, static_cast<std::size_t>(got));
    }
    // What the stage starts does not hold the pipe open.
    fcntl(lab::answer_descriptor, F_SETFD, FD_CLOEXEC);
    return text;
  }

  // In a process that was forked from the worker nothing is said: only the worker itself answers.
  void say(const nlohmann::json& line) override {
    if (getpid() != process_) return;
    // Bytes that are not UTF-8 may stand in a stage's strings.
    const std::string text = lab::text_of(line) + "\n";
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t written = write(lab::answer_descriptor, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;  // nobody reads any more
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }

 private:
  pid_t process_ = getpid();
};

}  // namespace

int main(int argc, char** argv) {
  pipes with;
#ifdef LAB_STAGE_COUNT
  return lab::worker_main(argc, argv, with, LAB_STAGE_COUNT);
#else
  return lab::worker_main(argc, argv, with);
#endif
}
