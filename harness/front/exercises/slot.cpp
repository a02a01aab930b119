#include "harness/front/exercises/slot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "harness/front/exercises/workbook.hpp"
#include "harness/front/exercises/written_part.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/regular_expression.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/process/interrupt.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

// Of a submission's compiler.
constexpr std::chrono::seconds submission_timeout{240};

const char* backend_of(exercise_slot::part what) {
  return what == exercise_slot::part::gpu ? "cuda" : "emulator";
}

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

exercise_slot::exercise_slot(const std::string& track, bool sealed)
    : track_(track), sealed_(sealed), build_(fs::read_symlink("/proc/self/exe").parent_path()) {
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

slot_build exercise_slot::build(part what, const std::string& source, std::chrono::milliseconds timeout,
                                const command_wrapper& limited) const {
  const fs::path file = build_ / "exercises" / (track_ + ".cpp");
  // An unchanged file keeps its time, and nothing is compiled.
  if (read_text(file) != source) write_file(file.string(), source);
  const std::string cmake = find_program("cmake", {});
  if (cmake.empty()) throw environment_error("cmake is not in PATH, and an exercise is compiled with it");
  // The launcher's builds and this one exclude each other.
  const file_descriptor building = locked(build_ / ".lock", "waiting for another build");
  std::vector<std::string> command{"/usr/bin/env", "LC_ALL=C", "CLICOLOR_FORCE=0", cmake,
                                   "--build",      build_,     "--target"};
  command.push_back(fs::path(worker(what)).lexically_relative(build_));
  if (what == part::emulator) command.push_back(fs::path(observed_worker()).lexically_relative(build_));
  if (limited) command = limited(command);
  command_result result;
  try {
    result = run_command(command, timeout);
  } catch (const environment_error&) {
    // A template or a constant without end, most likely.
    end_orphans();
    return {.error = fmt::format("the compiler did not end within {} s",
                                 std::chrono::duration_cast<std::chrono::seconds>(timeout).count())};
  }
  if (result.ending.is_success()) return {.built = true};
  slot_build failed;
  failed.error = first_compiler_error(result.output, &failed.column);
  if (failed.error.empty()) {
    const std::size_t shown = std::min<std::size_t>(result.output.size(), 2000);
    throw environment_error("the build failed: " +
                            cleaned(result.output.substr(result.output.size() - shown), 2000));
  }
  if (what == part::emulator) failed.error += words_of_nvcc(source);
  return failed;
}

slot_build exercise_slot::build_submission(part what, const std::string& source, const std::string& solution,
                                           const submission_terms& terms) const {
  try {
    slot_build built = build(what, source, submission_timeout, terms.limited);
    const fs::path of_track = build_ / "workers" / backend_of(what) / (track_ + ".track");
    if (std::string fault = built.built ? terms.fault(worker(what), of_track) : ""; !fault.empty())
      return {.error = std::move(fault)};
    return built;
  } catch (const environment_error& error) {
    if (!build(what, solution, submission_timeout).built) throw;
    return {.error = "the compiler did not come to an end: " + cleaned(error.what(), 300)};
  }
}

std::string exercise_slot::worker(part what) const {
  return workers() / backend_of(what) / track_ / "exercise";
}

std::string exercise_slot::observed_worker() const {
  return workers() / "observed" / track_ / "exercise";
}

fs::path exercise_slot::workers() const {
  return build_ / "exercises" / (sealed_ ? "sealed" : "") / "workers";
}

std::string first_compiler_error(const std::string& output, std::size_t* column) {
  // g++'s "file:31:5: error: ", nvcc's "file(31): error: ", and what ptxas says of the whole kernel.
  constexpr const char* error = "([^:]+):([0-9]+):(?:([0-9]+):)? (?:fatal )?error: (.*)";
  constexpr const char* of_nvcc = "([^:()]+)\\(([0-9]+)\\)():? (?:catastrophic )?error(?: #[^:]*)?: (.*)";
  constexpr const char* of_ptxas = "ptxas (?:error|fatal) *: (.*)";
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > 4000) continue;
    if (const auto parts = matched_groups(line, of_ptxas); !parts.empty())
      return cleaned("ptxas: " + without_own_prefix(parts[1]), 600);
    auto parts = matched_groups(line, error);
    if (parts.empty()) parts = matched_groups(line, of_nvcc);
    if (parts.empty()) continue;
    if (column != nullptr && !parts[3].empty()) *column = std::strtoull(parts[3].c_str(), nullptr, 10);
    return cleaned(fmt::format("{}:{}: {}", shown_path(parts[1]), parts[2], without_own_prefix(parts[4])),
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

std::string words_of_nvcc(const std::string& source) {
  std::string instead;
  if (source.find("<<<") != std::string::npos)
    instead += "; instead of <<<>>>: launch(kernel, grid, block, shared_bytes, stream, arguments...)";
  if (source.find("extern __shared__") != std::string::npos)
    instead += "; instead of extern __shared__ T name[]: T* name = dynamic_shared<T>()";
  return instead;
}

}  // namespace lab::front
