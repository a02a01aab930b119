#include "harness/front/process/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "harness/front/process/errors.hpp"
#include "harness/front/process/interrupt.hpp"

namespace lab::front {
namespace {

// Descriptors below this one may be the target of a mapping, so that the sources of mappings are moved above
// it.
constexpr int first_free_descriptor = 16;

// Between fork and exec: only what may be called in a signal handler. Reports errno through `error_pipe`.
[[noreturn]] void become(char* const* arguments,
                         const std::vector<child_process::descriptor_mapping>& mappings, pid_t parent,
                         int null_descriptor, int error_pipe) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A crash is told by its signal, and the system, short of memory, should take this process rather than its
  // parent.
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0) {
    [[maybe_unused]] const auto set = write(score, "1000", 4);
    close(score);
  }
  if (getppid() != parent) _exit(127);  // the parent died before the line above
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal_number, SIG_DFL);
  dup2(null_descriptor, STDIN_FILENO);
  for (const auto& mapping : mappings) dup2(mapping.ours, mapping.theirs);
  // What this program was itself given by its parent is not the child's.
  unsigned first = STDERR_FILENO + 1;
  for (const auto& mapping : mappings) first = std::max(first, static_cast<unsigned>(mapping.theirs) + 1);
  syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC);
  execvp(arguments[0], arguments);
  const int error = errno;
  [[maybe_unused]] const auto written = write(error_pipe, &error, sizeof error);
  _exit(127);
}

// Children that a child_process owns.
std::set<pid_t>& owned_children() {
  static std::set<pid_t> owned;
  return owned;
}

struct process_entry {
  pid_t id = 0;
  std::string name;
  bool ended = false;  // and not yet waited for
  pid_t parent = 0;
  pid_t group = 0;
  std::int64_t ticks = 0;              // at work
  std::int64_t ticks_of_children = 0;  // that it has waited for
};

// What /proc/17/stat or /proc/17/task/18/stat says: "17 (name) S 1 ...", where the name may hold anything;
// the times are the 14th to the 17th word.
std::optional<process_entry> read_entry(const std::filesystem::path& directory) {
  const std::string number = directory.filename();
  if (number.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  std::ifstream file(directory / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t begin = line.find('(');
  const std::size_t end = line.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return std::nullopt;
  process_entry one{.id = std::stoi(number), .name = line.substr(begin + 1, end - begin - 1)};
  std::istringstream words(line.substr(end + 1));
  char state = 0;
  words >> state >> one.parent >> one.group;
  one.ended = state == 'Z' || state == 'X';
  std::string skipped;
  for (int k = 6; k < 14; ++k) words >> skipped;
  std::int64_t user = 0, system = 0, user_of_children = 0, system_of_children = 0;
  words >> user >> system >> user_of_children >> system_of_children;
  one.ticks = user + system;
  one.ticks_of_children = user_of_children + system_of_children;
  return one;
}

std::vector<process_entry> entries_in(const std::filesystem::path& directory) {
  std::vector<process_entry> found;
  std::error_code error;
  for (std::filesystem::directory_iterator each(directory, error), end; !error && each != end;
       each.increment(error)) {
    if (auto one = read_entry(each->path())) found.push_back(std::move(*one));
  }
  return found;
}

// The children of this process that nobody owns. What is in the group of one that still runs is that one's.
std::vector<process_entry> orphans() {
  std::vector<process_entry> found = entries_in("/proc");
  std::erase_if(found, [self = getpid()](const process_entry& one) {
    const std::set<pid_t>& owned = owned_children();
    return one.parent != self || owned.contains(one.id) || owned.contains(one.group);
  });
  return found;
}

int duplicate_high(int descriptor) {
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, first_free_descriptor);
  if (high < 0)
    throw environment_error(fmt::format("cannot duplicate a file descriptor: {}", std::strerror(errno)));
  return high;
}

}  // namespace

owned_descriptor& owned_descriptor::operator=(owned_descriptor&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = other.release();
  }
  return *this;
}

void owned_descriptor::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

int owned_descriptor::release() {
  return std::exchange(descriptor_, -1);
}

pipe_pair make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw environment_error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  return {owned_descriptor(ends[0]), owned_descriptor(ends[1])};
}

void set_nonblocking(const owned_descriptor& descriptor) {
  fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

std::string process_ending::description() const {
  if (by_signal) return fmt::format("killed by signal {} ({})", code, strsignal(code));
  return fmt::format("ended with exit code {}", code);
}

child_process::child_process(const std::vector<std::string>& arguments,
                             const std::vector<descriptor_mapping>& mappings) {
  std::vector<char*> pointers;
  for (const auto& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);

  std::vector<owned_descriptor> sources;
  std::vector<descriptor_mapping> high_mappings;
  for (const auto& mapping : mappings) {
    sources.emplace_back(duplicate_high(mapping.ours));
    high_mappings.push_back({sources.back().get(), mapping.theirs});
  }
  const owned_descriptor null_device(open("/dev/null", O_RDONLY | O_CLOEXEC));
  pipe_pair error_pipe = make_pipe();
  owned_descriptor high_error_end(duplicate_high(error_pipe.write_end.get()));
  error_pipe.write_end.close();

  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) throw environment_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (process_ == 0) become(pointers.data(), high_mappings, parent, null_device.get(), high_error_end.get());
  owned_children().insert(process_);
  setpgid(process_, process_);  // by whichever of the two comes first

  high_error_end.close();
  int error = 0;
  ssize_t received = 0;
  do {
    received = read(error_pipe.read_end.get(), &error, sizeof error);
  } while (received < 0 && errno == EINTR);
  if (received == static_cast<ssize_t>(sizeof error)) {
    wait_for(std::chrono::seconds(1));
    throw environment_error(fmt::format("cannot execute {}: {}", arguments[0], std::strerror(error)));
  }
}

child_process::child_process(child_process&& other) noexcept : process_(std::exchange(other.process_, -1)) {}

child_process& child_process::operator=(child_process&& other) noexcept {
  if (this != &other) {
    kill();
    process_ = std::exchange(other.process_, -1);
  }
  return *this;
}

std::optional<process_ending> child_process::wait_for(std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (process_ > 0) {
    int status = 0;
    const pid_t ended = waitpid(process_, &status, WNOHANG);
    if (ended == process_) {
      owned_children().erase(process_);
      process_ = -1;
      if (WIFSIGNALED(status)) return process_ending{true, WTERMSIG(status)};
      return process_ending{false, WEXITSTATUS(status)};
    }
    if (ended < 0 && errno != EINTR) break;
    if (std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return std::nullopt;
}

std::map<pid_t, std::chrono::duration<double>> child_process::processor_times() const {
  if (process_ <= 0) return {};
  std::map<pid_t, process_entry> all;
  for (process_entry& one : entries_in("/proc")) all.emplace(one.id, std::move(one));
  const spent_time::seconds tick(1.0 / static_cast<double>(sysconf(_SC_CLK_TCK)));
  std::map<pid_t, std::chrono::duration<double>> times;
  for (const auto& [id, one] : all) {
    pid_t ancestor = id;
    for (int depth = 0; depth < 1000 && ancestor != process_; ++depth) {
      const auto next = all.find(ancestor);
      if (next == all.end()) break;
      ancestor = next->second.parent;
    }
    if (ancestor != process_) continue;
    times[-id] = static_cast<double>(one.ticks_of_children) * tick;
    for (const process_entry& thread : entries_in(fmt::format("/proc/{}/task", id)))
      times[thread.id] = static_cast<double>(thread.ticks) * tick;
  }
  return times;
}

bool is_over(const spent_time& spent, spent_time::seconds limit) {
  return spent.processor >= limit || spent.wall >= wall_per_processor * limit;
}

std::string limit_text(const spent_time& spent, spent_time::seconds limit) {
  if (spent.processor >= limit) return fmt::format("{} s of processor time", limit.count());
  return fmt::format("{} s, of which it used {:.1f} s of processor time", wall_per_processor * limit.count(),
                     spent.processor.count());
}

time_watch::time_watch(spent_time::seconds limit)
    : between_looks_(
          std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(limit.count(), 10.0) * 100), 10, 1000)),
      began_(clock::now()),
      looked_(clock::now()) {}

spent_time time_watch::spent(const child_process& of) {
  const auto now = clock::now();
  if (now - looked_ >= between_looks_) {
    const auto times = of.processor_times();
    looked_ = now;
    if (!began_) {
      began_ = now;
      at_begin_ = times;
      processor_ = {};
    }
    spent_time::seconds most{};
    spent_time::seconds of_children{};
    for (const auto& [id, time] : times) {
      const auto before = at_begin_.find(id);
      const spent_time::seconds since =
          time - (before == at_begin_.end() ? decltype(time){} : before->second);
      if (id > 0) {
        most = std::max(most, since);
      } else {
        of_children += since;
      }
    }
    // A thread that has ended is not seen any more.
    processor_ = std::max(processor_, most + of_children);
  }
  if (!began_) return {};
  return {processor_, now - *began_};
}

void child_process::kill() {
  if (process_ <= 0) return;
  ::kill(-process_, SIGKILL);
  // A process that waits for a device may need a moment even so; one that never goes is left to the system.
  wait_for(std::chrono::seconds(10));
  owned_children().erase(process_);
  process_ = -1;
}

void child_process::end_within(std::chrono::milliseconds time) {
  if (process_ <= 0) return;
  ::kill(process_, SIGTERM);
  wait_for(time);
  kill();
}

void adopt_orphans() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::vector<std::string> end_orphans() {
  std::vector<std::string> running;
  // Those whose parent is ended here come up in the next round.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (std::chrono::steady_clock::now() < deadline) {
    const auto found = orphans();
    if (found.empty()) break;
    for (const process_entry& one : found) {
      if (!one.ended) {
        if (running.size() < 3) running.push_back(fmt::format("{} ({})", one.name, one.id));
        ::kill(one.id, SIGKILL);
      }
      waitpid(one.id, nullptr, 0);
    }
  }
  return running;
}

command_result run_command(const std::vector<std::string>& arguments, spent_time::seconds timeout) {
  // A compiler may go on about one mistake for gigabytes.
  constexpr std::size_t most_output = std::size_t{64} << 20;
  pipe_pair output = make_pipe();
  child_process child(arguments,
                      {{output.write_end.get(), STDOUT_FILENO}, {output.write_end.get(), STDERR_FILENO}});
  output.write_end.close();

  command_result result;
  time_watch watch(timeout);
  for (;;) {
    throw_if_interrupted();
    if (const spent_time spent = watch.spent(child); is_over(spent, timeout)) {
      throw environment_error(
          fmt::format("{} did not end within {}", arguments[0], limit_text(spent, timeout)));
    }
    pollfd waiting[] = {{output.read_end.get(), POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}};
    if (poll(waiting, 2, static_cast<int>(watch.between_looks().count())) <= 0 || waiting[0].revents == 0)
      continue;
    char buffer[1 << 16];
    const ssize_t received = read(output.read_end.get(), buffer, sizeof buffer);
    if (received > 0 && result.output.size() < most_output)
      result.output.append(buffer, static_cast<std::size_t>(received));
    if (received == 0) break;
  }
  const auto ending = child.wait_for(std::chrono::seconds(10));
  end_orphans();
  if (!ending) throw environment_error(fmt::format("{} closed its output but did not end", arguments[0]));
  result.ending = *ending;
  return result;
}

std::string find_program(const std::string& name, const std::vector<std::string>& directories) {
  std::vector<std::string> searched;
  if (const char* path = std::getenv("PATH")) {
    std::istringstream list(path);
    for (std::string directory; std::getline(list, directory, ':');) searched.push_back(directory);
  }
  searched.insert(searched.end(), directories.begin(), directories.end());
  for (const auto& directory : searched) {
    const std::string candidate = directory + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

}  // namespace lab::front
