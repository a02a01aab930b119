#include "harness/front/grade/confinement.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <sstream>

#include "harness/front/emulate/run_program.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

// Tasks of this user, which RLIMIT_NPROC counts on systems before Linux 5.14 whatever their namespace.
std::uint64_t tasks_of_this_user() {
  std::uint64_t tasks = 0;
  std::error_code error;
  for (const auto& directory : fs::directory_iterator("/proc", error)) {
    const std::string name = directory.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    struct stat owner {};
    if (stat(directory.path().c_str(), &owner) != 0 || owner.st_uid != getuid()) continue;
    std::ifstream status(directory.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.rfind("Threads:", 0) == 0) tasks += std::stoull(line.substr(8));
    }
  }
  return tasks;
}

std::vector<std::string> system_directories() {
  std::vector<std::string> words;
  for (const char* path : {"/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache"}) {
    std::error_code error;
    if (fs::is_symlink(path, error)) {
      words.insert(words.end(), {"--symlink", fs::read_symlink(path, error).string(), path});
    } else if (fs::exists(path, error)) {
      words.insert(words.end(), {"--ro-bind", path, path});
    }
  }
  return words;
}

// The driver is among the system's libraries; it finds its devices in /dev and their places on the bus in
// /sys, and which of them it may use in the environment.
std::vector<std::string> gpu_files() {
  std::vector<std::string> words;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename();
    if (name.rfind("nvidia", 0) == 0 || name == "dxg")
      words.insert(words.end(), {"--dev-bind", entry.path().string(), entry.path().string()});
  }
  for (const char* path : {"/sys/bus", "/sys/class", "/sys/dev", "/sys/devices", "/sys/module"})
    words.insert(words.end(), {"--ro-bind-try", path, path});
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}) {
    if (const char* const value = std::getenv(name); value != nullptr)
      words.insert(words.end(), {"--setenv", name, value});
  }
  return words;
}

}  // namespace

confinement::confinement(bool unconfined) : prlimit_(find_program("prlimit", {"/usr/bin"})) {
  if (prlimit_.empty())
    throw environment_error("prlimit (package util-linux) is not here, and a submission is run with limits");
  const std::string bubblewrap = find_program("bwrap", {"/usr/bin"});
  std::string problem = "bubblewrap (package bubblewrap) is not here";
  if (!bubblewrap.empty()) {
    bubblewrap_ = bubblewrap;
    const auto tried = run_command(around({"/usr/bin/env", "true"}, {}), std::chrono::seconds(10));
    if (tried.ending.is_success()) {
      const auto version = run_command({bubblewrap, "--version"}, std::chrono::seconds(10));
      version_ = cleaned(version.output.substr(0, version.output.find('\n')), 60);
      return;
    }
    bubblewrap_.clear();
    problem = "bubblewrap does not work here: " + cleaned(tried.output, 200);
  }
  if (unconfined) return;
  throw environment_error(problem +
                          "; a submission is a program of somebody else's, and it would see this machine's "
                          "files and network: --unconfined runs it all the same");
}

std::vector<std::string> confinement::limited(const std::vector<std::string>& program,
                                              const process_limits& limits) const {
  std::vector<std::string> words{prlimit_,
                                 fmt::format("--cpu={}", limits.cpu_seconds),
                                 fmt::format("--data={}", limits.data_bytes),
                                 fmt::format("--as={}", limits.address_bytes),
                                 fmt::format("--fsize={}", limits.file_bytes),
                                 fmt::format("--nofile={}", limits.files),
                                 fmt::format("--nproc={}", tasks_of_this_user() + limits.processes),
                                 "--core=0",
                                 "--"};
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

std::vector<std::string> confinement::around(const std::vector<std::string>& program,
                                             const visible_files& files, const process_limits& limits) const {
  if (!has_walls()) return limited(program, limits);
  std::vector<std::string> words{bubblewrap_};
  const std::vector<std::string> system = system_directories();
  words.insert(words.end(), system.begin(), system.end());
  // The first process of its namespace: whatever it started ends with it.
  for (const char* word : {"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--unshare-all",
                           "--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
                           "--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--chdir", "/tmp"})
    words.emplace_back(word);
  // The emulator's own settings are the grader's.
  for (const char* name : {"LAB_EMULATOR_MEMORY", "LAB_EMULATOR_THREADS"}) {
    if (const char* const value = std::getenv(name); value != nullptr)
      words.insert(words.end(), {"--setenv", name, value});
  }
  if (files.gpus) {
    const std::vector<std::string> gpus = gpu_files();
    words.insert(words.end(), gpus.begin(), gpus.end());
  }
  for (const fs::path& path : files.to_read)
    words.insert(words.end(), {"--ro-bind", path.string(), path.string()});
  for (const fs::path& path : files.to_write)
    words.insert(words.end(), {"--bind", path.string(), path.string()});
  words.emplace_back("--");
  const std::vector<std::string> inner = limited(program, limits);
  words.insert(words.end(), inner.begin(), inner.end());
  return words;
}

std::string confinement::text() const {
  const std::string limits = "limits on processor time, memory, processes and files";
  if (!has_walls()) return "UNCONFINED: " + limits + ", and this machine's files and network in reach";
  return fmt::format("{}: no network, no files but the system's libraries and its own; {}", version_, limits);
}

process_watch::process_watch(std::size_t processes, std::uint64_t resident_bytes)
    : thread_([this, processes, resident_bytes] { look(processes, resident_bytes); }) {}

process_watch::~process_watch() {
  is_over_ = true;
  thread_.join();
}

void process_watch::look(std::size_t processes, std::uint64_t resident_bytes) {
  while (!is_over_) {
    const usage_of_processes usage = usage_of_descendants();
    if (usage.processes > processes || usage.resident_bytes > resident_bytes) {
      has_ended_them_ = true;
      // In a process namespace of its own all goes with the first.
      for (const pid_t child : usage.children) ::kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace lab::front
