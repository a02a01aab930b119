#include "harness/front/devices.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <vector>

#include "harness/front/errors.hpp"

namespace lab {
namespace {

// A first start compiles nothing but may wake a device that sleeps.
constexpr std::chrono::seconds describe_timeout{120};

constexpr const char* binary_name(device_kind kind) {
  return kind == device_kind::cuda ? "lab-worker-cuda" : "lab-worker-emulator";
}

std::string not_built(device_kind kind) {
  return fmt::format("{} is not built{}", binary_name(kind),
                     kind == device_kind::cuda ? " (it needs the CUDA Toolkit)" : "");
}

connection connected(worker process, worker_description description, std::string note) {
  process.set_output_sink({});
  return {std::move(process), std::move(description), std::move(note)};
}

}  // namespace

device_choice parse_device(const std::string& text) {
  if (text == "emulator") return {device_kind::emulator, 0};
  static const std::regex cuda_device("cuda:([0-9]{1,4})");
  std::smatch match;
  if (std::regex_match(text, match, cuda_device)) return {device_kind::cuda, std::stoi(match[1])};
  throw usage_error(fmt::format("--device must be emulator or cuda:0, cuda:1, ..., not '{}'", text));
}

namespace {

std::string binary_at(const char* variable, const char* name) {
  if (const char* path = std::getenv(variable); path != nullptr && *path != '\0') {
    // A name without a slash would be searched in PATH, which is not what the variable means.
    return std::filesystem::absolute(path).string();
  }
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
  return access(beside.c_str(), X_OK) == 0 ? beside.string() : "";
}

}  // namespace

std::string worker_binary(device_kind kind) {
  return binary_at(kind == device_kind::cuda ? "LAB_WORKER_CUDA" : "LAB_WORKER_EMULATOR", binary_name(kind));
}

std::string observed_worker_binary() {
  std::string binary = binary_at("LAB_WORKER_OBSERVED", "lab-worker-observed");
  if (binary.empty()) {
    throw environment_error(
        "lab-worker-observed is not built: counting needs libbacktrace, which comes with GCC, and a "
        "build without sanitizers");
  }
  return binary;
}

worker make_worker(const std::string& binary, int index) {
  return worker({binary, "--device", std::to_string(index)});
}

probe describe(worker& process) {
  // What the process prints matters only if it fails, and then its last words are part of the reason.
  process.set_output_sink([](const std::string&) {});
  const auto& binary = process.arguments().front();
  try {
    const answer_record answer = process.request({{"op", "describe"}}, describe_timeout);
    if (answer.end != answer_end::ok)
      return {std::nullopt, fmt::format("{} did not start: {}", binary, answer.message)};
    const int protocol = answer.content.value("protocol", 0);
    if (protocol != protocol_version) {
      return {std::nullopt, fmt::format("{} speaks protocol {} and this program {}: build both again", binary,
                                        protocol, protocol_version)};
    }
    return {answer.content.get<worker_description>(), ""};
  } catch (const environment_error& error) {
    return {std::nullopt, error.what()};
  } catch (const std::exception& error) {  // a description that does not follow the protocol
    return {std::nullopt, fmt::format("{} describes itself wrongly: {}", binary, error.what())};
  }
}

connection connect(const std::string& device, bool device_needed) {
  const bool chosen = !device.empty();
  const device_choice choice = chosen ? parse_device(device) : device_choice{};
  std::string no_cuda = not_built(device_kind::cuda);
  std::optional<connection> without_device;
  if (choice.kind == device_kind::cuda) {
    if (const std::string binary = worker_binary(device_kind::cuda); !binary.empty()) {
      worker process = make_worker(binary, choice.index);
      probe answer = describe(process);
      no_cuda = answer.description ? answer.description->no_device : answer.problem;
      if (answer.description) {
        const bool has_device = answer.description->device.has_value();
        without_device = connected(std::move(process), std::move(*answer.description), "");
        if (has_device) return std::move(*without_device);
      }
    }
    if (without_device && !device_needed && (chosen || worker_binary(device_kind::emulator).empty())) {
      return std::move(*without_device);
    }
    if (chosen) throw environment_error(fmt::format("{}: no such device here: {}", device, no_cuda));
  }
  const std::string binary = worker_binary(device_kind::emulator);
  if (binary.empty()) {
    const std::string missing = not_built(device_kind::emulator);
    throw environment_error(chosen ? missing : fmt::format("no CUDA device: {}; and {}", no_cuda, missing));
  }
  worker process = make_worker(binary, 0);
  probe answer = describe(process);
  if (!answer.description) throw environment_error(answer.problem);
  if (!answer.description->device)
    throw environment_error("the emulator has no device: " + answer.description->no_device);
  std::string note;
  if (!chosen) {
    note = fmt::format(
        "no CUDA device: {}; running the portable stages on the CPU emulator. Times are this host's, not a "
        "GPU's.",
        no_cuda);
  }
  return connected(std::move(process), std::move(*answer.description), std::move(note));
}

}  // namespace lab
