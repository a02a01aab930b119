#include "harness/front/exercises/slot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <regex>
#include <sstream>

#include "harness/front/exercises/workbook.hpp"
#include "harness/front/exercises/written_part.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/process/interrupt.hpp"
#include "harness/front/workers/replaced_symbols.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

// A lock that is free again when its owner ends, whichever way.
file_descriptor locked(const fs::path& path, const char* waiting_for) {
  file_descriptor file(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666));
  if (!file.is_open())
    throw environment_error(fmt::format("{} cannot be written: {}", path.string(), std::strerror(errno)));
  status_line status;
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      throw environment_error(fmt::format("{}: {}", path.string(), std::strerror(errno)));
    status.show(waiting_for);
    throw_if_interrupted();
    usleep(100'000);
  }
  return file;
}

}  // namespace

exercise_slot::exercise_slot(const std::string& track)
    : track_(track), build_(fs::read_symlink("/proc/self/exe").parent_path()) {
  const fs::path directory = build_ / "exercises";
  if (!fs::exists(directory / (track + ".cpp"))) {
    throw environment_error(
        fmt::format("{} has no place for exercises of '{}': it was built without the emulator, or before the "
                    "track was there; ./lab configure",
                    build_.string(), track));
  }
  if (access(directory.c_str(), W_OK) != 0) {
    throw environment_error(fmt::format(
        "{} cannot be written: clone the repository to a directory of your own", directory.string()));
  }
  lock_ = locked(directory / (track + ".lock"), "waiting for another check of this track");
}

slot_build exercise_slot::build(const std::string& source, std::chrono::milliseconds timeout,
                                const command_wrapper& limited) const {
  const fs::path file = build_ / "exercises" / (track_ + ".cpp");
  // An unchanged file keeps its time, and nothing is compiled.
  if (read_text(file) != source) write_file(file.string(), source);
  const std::string cmake = find_program("cmake", {});
  if (cmake.empty()) throw environment_error("cmake is not in PATH, and an exercise is compiled with it");
  // The launcher's builds and this one exclude each other.
  const file_descriptor building = locked(build_ / ".lock", "waiting for another build");
  const auto target = [this](const char* backend) {
    return fmt::format("exercises/workers/{}/{}/exercise", backend, track_);
  };
  std::vector<std::string> command{"/usr/bin/env", "LC_ALL=C",         "CLICOLOR_FORCE=0",
                                   cmake,          "--build",          build_.string(),
                                   "--target",     target("emulator"), target("observed")};
  if (limited) command = limited(command);
  command_result result;
  try {
    result = run_command(command, timeout);
  } catch (const environment_error&) {
    // A template or a constant without end, most likely.
    end_strays();
    return {.error = fmt::format("the compiler did not end within {} s",
                                 std::chrono::duration_cast<std::chrono::seconds>(timeout).count())};
  }
  if (!result.ending.by_signal && result.ending.code == 0) return {.built = true};
  slot_build failed{.error = first_compiler_error(result.output)};
  if (failed.error.empty()) {
    const std::size_t shown = std::min<std::size_t>(result.output.size(), 2000);
    throw environment_error("the build failed: " +
                            cleaned(result.output.substr(result.output.size() - shown), 2000));
  }
  return failed;
}

fs::path exercise_slot::worker(const char* backend) const {
  return build_ / "exercises" / "workers" / backend / track_ / "exercise";
}

std::vector<std::string> exercise_slot::plain() const {
  return {worker("emulator").string(), "--device", "0"};
}

std::vector<std::string> exercise_slot::observed() const {
  return {worker("observed").string(), "--device", "0"};
}

std::string exercise_slot::replaced_function() const {
  return front::replaced_function(worker("emulator"), build_ / "workers" / "emulator" / (track_ + ".track"));
}

std::string first_compiler_error(const std::string& output) {
  static const std::regex error("([^:]+):([0-9]+):(?:[0-9]+:)? (?:fatal )?error: (.*)");
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (line.size() > 4000 || !std::regex_match(line, parts, error)) continue;
    return cleaned(fmt::format("{}:{}: {}", shown_path(parts[1].str()), parts[2].str(),
                               without_own_prefix(parts[3].str())),
                   600);
  }
  for (const char* words : {"undefined reference to", "multiple definition of"}) {
    const std::size_t found = output.find(words);
    if (found != std::string::npos)
      return "the linker: " +
             cleaned(without_own_prefix(output.substr(found, output.find('\n', found) - found)), 300);
  }
  return "";
}

}  // namespace lab::front
