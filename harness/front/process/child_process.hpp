// Another program, started by this one and never left behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lab::front {

// A file descriptor, closed with its owner.
class owned_descriptor {
 public:
  owned_descriptor() = default;
  explicit owned_descriptor(int descriptor) : descriptor_(descriptor) {}
  owned_descriptor(owned_descriptor&& other) noexcept : descriptor_(other.release()) {}
  owned_descriptor& operator=(owned_descriptor&& other) noexcept;
  owned_descriptor(const owned_descriptor&) = delete;
  owned_descriptor& operator=(const owned_descriptor&) = delete;
  ~owned_descriptor() { close(); }

  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  void close();
  int release();

 private:
  int descriptor_ = -1;
};

struct pipe_pair {
  owned_descriptor read_end;
  owned_descriptor write_end;
};

// A pipe that no child inherits by accident. Throws environment_error.
pipe_pair make_pipe();

void set_nonblocking(const owned_descriptor& descriptor);

// How a process ended.
struct process_ending {
  bool by_signal = false;
  int code = 0;  // the signal, or the exit code

  [[nodiscard]] bool is_success() const { return !by_signal && code == 0; }
  // "killed by signal 11 (Segmentation fault)" or "ended with exit code 3"
  [[nodiscard]] std::string description() const;
};

class child_process {
 public:
  // `ours` becomes descriptor `theirs` of the child.
  struct descriptor_mapping {
    int ours;
    int theirs;
  };

  child_process() = default;
  // Starts `arguments[0]` (searched in PATH unless it has a slash) in a process group of its own, so that
  // Ctrl-C in the terminal reaches this program alone. The child has no standard input unless it is mapped,
  // and is killed by the system if this program dies. Throws environment_error with the reason when the
  // program cannot be executed.
  child_process(const std::vector<std::string>& arguments, const std::vector<descriptor_mapping>& mappings);
  child_process(child_process&& other) noexcept;
  child_process& operator=(child_process&& other) noexcept;
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  ~child_process() { kill(); }

  [[nodiscard]] bool is_running() const { return process_ > 0; }

  [[nodiscard]] pid_t id() const { return process_; }

  // The ending, if it comes within `time`.
  std::optional<process_ending> wait_for(std::chrono::milliseconds time);

  // The processor time of each thread of the child and of all that it has started, by its number, and under
  // the negative number of a process that of the children that it has waited for; nothing where the system
  // does not tell.
  [[nodiscard]] std::map<pid_t, std::chrono::duration<double>> processor_times() const;

  // Ends the child's whole process group, at once.
  void kill();

  // The same, with `time` for the child to end what it has started elsewhere.
  void end_within(std::chrono::milliseconds time);

 private:
  pid_t process_ = -1;
};

// How long a process has been at work, by the thread that has been most (so that what all cores share takes
// as long as they do), and how long it has been there.
struct spent_time {
  using seconds = std::chrono::duration<double>;
  seconds processor{};
  seconds wall{};
};

// A time limit counts processor time, so that a busy machine gives the same answers. What waits for ever uses
// none: it is ended when ten times as long has passed.
inline constexpr int wall_per_processor = 10;
[[nodiscard]] bool is_over(const spent_time& spent, spent_time::seconds limit);
// "4 s of processor time", or "40 s, of which it used 0.1 s of processor time".
[[nodiscard]] std::string limit_text(const spent_time& spent, spent_time::seconds limit);

// The time that a child has spent since the watch began. It is looked at ten times within `limit`, and once a
// second.
class time_watch {
 public:
  explicit time_watch(spent_time::seconds limit);
  // Begins anew at the next look.
  void restart() { began_ = {}; }
  spent_time spent(const child_process& of);
  // How long to wait before it is looked at again.
  [[nodiscard]] std::chrono::milliseconds between_looks() const { return between_looks_; }

 private:
  using clock = std::chrono::steady_clock;
  std::chrono::milliseconds between_looks_;
  std::optional<clock::time_point> began_;
  std::map<pid_t, spent_time::seconds> at_begin_;
  spent_time::seconds processor_{};
  clock::time_point looked_;
};

// From now on a process whose parent ends becomes this one's child, so that end_orphans() finds it.
void adopt_orphans();

// Ends the children of this process that no child_process owns: what a worker started and left behind,
// whatever groups and sessions it made for itself. Those in the group of a child that still runs stay until
// that has ended. Returns "name (process id)" of each that was still
// running.
std::vector<std::string> end_orphans();

struct command_result {
  process_ending ending;
  std::string output;  // stdout and stderr together, the first 64 MiB of them
};

// Runs a program to its end. Throws environment_error when it cannot be executed, `interrupted` on Ctrl-C
// (the program is killed), and environment_error when it takes longer than `timeout`, see is_over().
command_result run_command(const std::vector<std::string>& arguments, spent_time::seconds timeout);

// Where a program is: first in PATH, then in `directories`; an empty path when nowhere.
std::string find_program(const std::string& name, const std::vector<std::string>& directories);

}  // namespace lab::front
