// The processes of one `lab run` on a GPU take turns: locks on files in a folder of the front's.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace lab {

// The folder of the locks; without it nobody waits.
inline constexpr const char* turns_variable = "LAB_TURNS";

// The device: none is given it, which takes the driver some work, while another is timed.
inline constexpr const char* device_turn = "device";
// The row: the front has it from the moment when it asks a process ahead until the one of the row before is
// gone; none is timed before that.
inline constexpr const char* row_turn = "row";

// A turn at what `name` says, held from construction to destruction; waits for whoever has it.
class turn {
 public:
  explicit turn(const char* name) {
    const char* const folder = std::getenv(turns_variable);
    if (folder == nullptr) return;
    file_ = open((std::string(folder) + "/" + name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file_ < 0) return;
    int code = 0;
    do {
      code = flock(file_, LOCK_EX);
    } while (code != 0 && errno == EINTR);
    is_held_ = code == 0;
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn() {
    // What a stage has forked may hold the file open.
    if (is_held_) flock(file_, LOCK_UN);
    if (file_ >= 0) close(file_);
  }

  [[nodiscard]] bool is_held() const { return is_held_; }

 private:
  int file_ = -1;
  bool is_held_ = false;
};

}  // namespace lab
