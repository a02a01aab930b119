// The processes of one `lab run` take turns with the device: none is given it, which takes the driver some
// work, while another is timed.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace lab {

// From its making to its end; waits for whoever has it. Without a file named by LAB_TURN nobody waits.
class device_turn {
 public:
  device_turn() {
    const char* const path = std::getenv("LAB_TURN");
    if (path == nullptr) return;
    file_ = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    while (file_ >= 0 && flock(file_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  device_turn(const device_turn&) = delete;
  device_turn& operator=(const device_turn&) = delete;
  ~device_turn() {
    if (file_ >= 0) close(file_);
  }

 private:
  int file_ = -1;
};

}  // namespace lab
