#include "harness/front/emulate/machine_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "common/utf8.hpp"
#include "harness/front/emulate/cubin.hpp"
#include "harness/front/emulate/toolchain.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"

namespace lab::front {
namespace {

namespace files = std::filesystem;

// nvcc's own, or what it says at all.
std::string first_error(const command_result& result) {
  std::istringstream lines(result.output);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first.empty() ? result.ending.description() : first;
}

bool is_cuda_source(const std::string& source, const compiler_words& words) {
  const std::string extension = files::path(source).extension();
  return words.is_cuda || extension == ".cu" || extension == ".cuh";
}

// nvcc knows no GNU dialect, and nothing older than C++11.
std::string standard_for_nvcc(const std::string& word) {
  std::string name = word.substr(word.find('=') + 1);
  if (name.starts_with("gnu++")) name = "c++" + name.substr(5);
  for (const char* const known : {"c++11", "c++14", "c++17", "c++20", "c++23"}) {
    if (name == known) return "-std=" + name;
  }
  return "";
}

}  // namespace

std::string find_nvcc() {
  const std::string nvcc = find_program("nvcc", {"/usr/local/cuda/bin"});
  if (nvcc.empty())
    throw environment_error(
        "--ptx needs nvcc, and there is none in PATH or /usr/local/cuda/bin: install the CUDA toolkit, or "
        "count accesses as they are written, with --observe");
  return nvcc;
}

std::vector<std::string> words_for_nvcc(const compiler_words& words) {
  std::vector<std::string> all{
      fmt::format("-arch=sm_{}", words.architecture.substr(0, words.architecture.size() - 1))};
  for (std::size_t number = 0; number < words.compile.size(); ++number) {
    const std::string& word = words.compile[number];
    if (word.starts_with("-std=")) {
      if (const std::string standard = standard_for_nvcc(word); !standard.empty()) all.push_back(standard);
    } else if (word == "-include" || word == "-isystem") {
      all.push_back(word);
      if (number + 1 < words.compile.size()) all.push_back(words.compile[++number]);
    } else if (word.starts_with("-f")) {
      all.push_back("-Xcompiler=" + word);
    } else {
      all.push_back(word);
    }
  }
  all.insert(all.end(), words.device.begin(), words.device.end());
  return all;
}

machine_code read_machine_code(const compile_request& request, const std::string& nvcc) {
  machine_code found;
  std::vector<machine_kernel> kernels;
  const auto capability = static_cast<unsigned>(std::stoul(request.words.architecture)) / 10;
  std::error_code error;
  const files::path toolkit = files::canonical(nvcc, error).parent_path().parent_path();
  const std::string headers_of_emulator = find_toolchain(true).headers.front();
  const std::vector<std::string> headers{"/usr", toolkit.string(), headers_of_emulator};
  std::size_t number = 0;
  for (const std::string& source : request.sources) {
    if (!is_cuda_source(source, request.words)) continue;
    const std::string cubin = fmt::format("{}/{}.cubin", request.folder, number++);
    std::vector<std::string> command{nvcc};
    const std::vector<std::string> words = words_for_nvcc(request.words);
    command.insert(command.end(), words.begin(), words.end());
    // With -G there is line information of another kind.
    if (std::find(words.begin(), words.end(), "-G") == words.end()) command.emplace_back("-lineinfo");
    // helper_cuda.h and its relatives, which come with NVIDIA's samples and not with nvcc.
    command.push_back("-Xcompiler=-idirafter," + headers_of_emulator);
    command.insert(command.end(), {"-cubin", "-x", "cu", source, "-o", cubin});
    const command_result result = run_command(command, request.time_limit);
    if (!result.ending.is_success()) {
      found.was_refused = true;
      found.problems.push_back(
          fmt::format("nvcc does not compile {}: {}", source, escaped(first_error(result))));
      continue;
    }
    std::ifstream file(cubin, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    try {
      std::vector<machine_kernel> more = read_cubin(bytes, capability, headers);
      kernels.insert(kernels.end(), std::make_move_iterator(more.begin()),
                     std::make_move_iterator(more.end()));
    } catch (const std::exception& problem) {
      found.problems.push_back(
          fmt::format("what nvcc has made of {} is not understood: {}", source, problem.what()));
    }
  }
  found.listing = listing_of(kernels);
  return found;
}

}  // namespace lab::front
