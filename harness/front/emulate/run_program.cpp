#include "harness/front/emulate/run_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "harness/front/output/format.hpp"
#include "harness/front/process/interrupt.hpp"

namespace lab::front {

usage_of_processes usage_of_descendants() {
  std::map<pid_t, std::pair<pid_t, std::uint64_t>> all;  // parent and resident pages, by process
  std::error_code error;
  for (const auto& directory : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = directory.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream stat(directory.path() / "stat"), memory(directory.path() / "statm");
    std::string line;
    std::getline(stat, line);
    const std::size_t end = line.rfind(')');  // the name before it may hold anything
    if (end == std::string::npos) continue;
    char state = 0;
    pid_t parent = 0;
    std::istringstream(line.substr(end + 1)) >> state >> parent;
    std::uint64_t size = 0, resident = 0, shared = 0;
    memory >> size >> resident >> shared;
    if (state != 'Z') all[std::stoi(name)] = {parent, resident};
  }
  usage_of_processes found;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const auto& [id, process] : all) {
    pid_t ancestor = process.first;
    for (int depth = 0; depth < 1000 && ancestor != getpid(); ++depth) {
      const auto next = all.find(ancestor);
      if (next == all.end()) break;
      ancestor = next->second.first;
    }
    if (ancestor != getpid()) continue;
    if (process.first == getpid()) found.children.push_back(id);
    ++found.processes;
    found.resident_bytes += process.second * page;
  }
  return found;
}

program_ending run_program_within(const std::vector<std::string>& arguments, const program_limits& limits) {
  std::vector<child_process::descriptor_mapping> mappings;
  const owned_descriptor null_device(limits.is_silent ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    mappings.push_back({limits.is_silent ? null_device.get() : stream, stream});
  // A process in the background that reads from the terminal would be stopped.
  if (!limits.is_silent && isatty(STDIN_FILENO) == 0) mappings.push_back({STDIN_FILENO, STDIN_FILENO});
  child_process child(arguments, mappings);
  program_ending result;
  time_watch watch(limits.time);
  constexpr auto between_looks = std::chrono::milliseconds(50);
  while (result.ended_because.empty()) {
    throw_if_interrupted();
    result.ending = child.wait_for(between_looks);
    if (result.ending) break;
    const usage_of_processes usage = usage_of_descendants();
    if (const spent_time spent = watch.spent(child); is_over(spent, limits.time)) {
      result.ended_because = fmt::format("it ran longer than {} (--timeout)", limit_text(spent, limits.time));
    } else if (usage.resident_bytes > limits.memory_bytes) {
      result.ended_because = fmt::format("it used more than {} of memory (--memory)",
                                         humanised_bytes(static_cast<double>(limits.memory_bytes)));
    } else if (usage.processes > limits.processes) {
      result.ended_because = fmt::format("it started more than {} processes", limits.processes);
    }
  }
  if (!result.ended_because.empty()) {
    // A moment to say what its kernels have done so far.
    ::kill(child.id(), SIGTERM);
    constexpr auto patience = std::chrono::seconds(1);
    child.wait_for(patience);
    child.kill();
  }
  result.left_behind = end_orphans();
  return result;
}

}  // namespace lab::front
