// Limits and walls around programs that nobody has read: a submission's worker, and the compiler that builds
// it.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace lab::front {

// What one process may use. The system ends it, or refuses it, where it asks for more.
struct process_limits {
  std::uint64_t cpu_seconds = 60;
  std::uint64_t data_bytes = std::uint64_t{4} << 30;     // private memory that can be written (RLIMIT_DATA)
  std::uint64_t address_bytes = std::uint64_t{1} << 40;  // above what the emulator reserves for addresses
  std::uint64_t file_bytes = std::uint64_t{64} << 20;    // of one file that it writes
  std::uint64_t files = 1024;                            // open at once; a worker moves its pipe to 64 to 463
  std::uint64_t processes =
      256;  // of this user, beside those that there are; the system does not count root's
};

// What a confined program sees beside the system's libraries, at the same paths.
struct visible_files {
  std::vector<std::filesystem::path> to_read = {};
  std::vector<std::filesystem::path> to_write = {};  // directories
  bool gpus = false;  // NVIDIA's, all of them: their device files, and what the driver reads of the system
};

class confinement {
 public:
  // Looks for prlimit (util-linux) and bubblewrap, and tries the latter. Throws environment_error where
  // either is missing or does not work, unless `unconfined`: then there are limits, and no walls.
  explicit confinement(bool unconfined);

  // The command that runs `program` in here: without network, in process, IPC and user namespaces of its own,
  // with no file but the system's libraries, its own binary and `files`, and with the limits.
  [[nodiscard]] std::vector<std::string> around(const std::vector<std::string>& program,
                                                const visible_files& files,
                                                const process_limits& limits = {}) const;
  // With the limits alone: for a compiler, which has to write its build.
  [[nodiscard]] std::vector<std::string> limited(const std::vector<std::string>& program,
                                                 const process_limits& limits) const;

  [[nodiscard]] bool has_walls() const { return !bubblewrap_.empty(); }
  // What holds, in one line.
  [[nodiscard]] std::string text() const;

 private:
  std::string prlimit_;
  std::string bubblewrap_;  // empty: none
  std::string version_;
};

// While it lives, ends what this process has started as soon as all of it together is more than the limits:
// a fork bomb of root's, whom RLIMIT_NPROC does not count, or many processes that each keep below their own.
class process_watch {
 public:
  process_watch(std::size_t processes, std::uint64_t resident_bytes);
  process_watch(const process_watch&) = delete;
  process_watch& operator=(const process_watch&) = delete;
  ~process_watch();

  // Whether it had to.
  [[nodiscard]] bool has_ended_them() const { return has_ended_them_; }

 private:
  void look(std::size_t processes, std::uint64_t resident_bytes);

  std::atomic<bool> is_over_ = false;
  std::atomic<bool> has_ended_them_ = false;
  std::thread thread_;
};

}  // namespace lab::front
