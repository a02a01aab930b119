#include "harness/front/emulate/toolchain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"

namespace lab::front {
namespace {

namespace files = std::filesystem;

std::vector<std::string> words_of(const char* text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; std::getline(stream, word, '|');) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

// The library, in whichever of the two places it is.
std::string library_file(const files::path& installed, const char* folder_of_build, const std::string& name) {
  const files::path beside = installed / "lib/kernel_lab" / name;
  std::error_code error;
  if (files::exists(beside, error)) return beside;
  return files::path(LAB_BUILD_ROOT) / folder_of_build / name;
}

void require(const std::string& path) {
  std::error_code error;
  if (files::exists(path, error)) return;
  throw environment_error(fmt::format(
      "{} is missing: run `./lab emulate`, which builds it, or install the lab with `cmake --install`",
      path));
}

}  // namespace

emulation_toolchain find_toolchain(bool observe) {
  if (!LAB_WITH_EMULATOR)
    throw environment_error(
        "this build is without the emulator: install libboost-context-dev and build again");
  std::error_code error;
  const files::path program = files::read_symlink("/proc/self/exe", error);
  const files::path prefix = program.parent_path().parent_path();
  emulation_toolchain found;
  found.root = files::exists(prefix / "include/kernel_lab/common/emulator", error)
                   ? (prefix / "include/kernel_lab").string()
                   : LAB_SOURCE_ROOT;
  found.headers = {found.root + "/common/emulator/programs/include"};
  // Those that the build writes; installed they all lie in one folder.
  if (found.root == LAB_SOURCE_ROOT)
    found.headers.push_back(LAB_BUILD_ROOT "/common/emulator/programs/include");
  for (const std::string& folder : found.headers) require(folder);
  found.compiler = LAB_CXX;
  // A makefile that is called with CXX=lab-nvcc hands that on.
  if (const char* const chosen = std::getenv("CXX"); chosen != nullptr && *chosen != '\0') {
    const std::string name = files::path(chosen).filename();
    const bool is_command = std::string(chosen).find(' ') == std::string::npos;
    if (is_command && name != "lab-nvcc" && name != "lab" && name != "nvcc") found.compiler = chosen;
  }
  if (found.compiler.find('/') == std::string::npos || !files::exists(found.compiler, error)) {
    const std::string name = files::path(found.compiler).filename();
    std::string elsewhere = find_program(name, {});
    if (elsewhere.empty()) elsewhere = find_program("c++", {});
    if (elsewhere.empty())
      throw environment_error("there is no C++ compiler here: install g++ (package build-essential)");
    found.compiler = elsewhere;
  }
  found.flags = words_of(observe ? LAB_OBSERVED_PROGRAM_FLAGS : LAB_PROGRAM_FLAGS);
  found.definitions = words_of(observe ? LAB_OBSERVED_PROGRAM_DEFINITIONS : LAB_PROGRAM_DEFINITIONS);
  // Another compiler may not know what this one has written.
  if (LAB_WITH_PRELUDE && found.root == LAB_SOURCE_ROOT && files::equivalent(found.compiler, LAB_CXX, error))
    found.precompiled =
        LAB_BUILD_ROOT "/common/emulator/precompiled/" + std::string(observe ? "observed" : "plain");
  const auto add = [&](std::vector<std::string>& list, const char* folder, const std::string& name) {
    list.push_back(library_file(prefix, folder, name));
    require(list.back());
  };
  add(found.libraries, "common/emulator", "liblab_emulator.a");
  for (const std::string& library : words_of(LAB_EMULATOR_LIBRARIES)) found.libraries.push_back(library);
  add(found.observing, "common/emulator", "liblab_emulated_program.a");
  const std::string backtrace = LAB_BACKTRACE_LIBRARY;
  if (!observe) {
    if (!backtrace.empty()) found.libraries.push_back(backtrace);
    return found;
  }
  if (!LAB_WITH_OBSERVED)
    throw environment_error(
        "this build cannot observe kernels: it found no libbacktrace, or a sanitizer is on");
  add(found.observing, "common/emulator", "liblab_observed_program.a");
  add(found.libraries, "common/emulator/observe", "liblab_observed.a");
  std::rotate(found.libraries.begin(), found.libraries.end() - 1, found.libraries.end());
  found.libraries.push_back(backtrace);
  return found;
}

std::vector<std::string> toolchain_targets() {
  if (!LAB_WITH_EMULATOR) return {};
  std::vector<std::string> targets{"lab_emulated_program", "lab_emulator"};
  if (LAB_WITH_OBSERVED) targets.insert(targets.end(), {"lab_observed_program", "lab_observed"});
  if (LAB_WITH_PRELUDE) targets.emplace_back("lab_program_prelude");
  return targets;
}

}  // namespace lab::front
