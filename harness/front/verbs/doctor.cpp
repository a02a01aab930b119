#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "harness/front/counters/nsight_compute.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/regular_expression.hpp"
#include "harness/front/output/table.hpp"
#include "harness/front/process/build_info.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/verbs/verbs.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {
namespace {

constexpr std::chrono::seconds query_timeout{30};

enum class finding_status { ok, missing, warning };
constexpr const char* finding_status_names[] = {"ok", "missing", "warning"};

struct finding {
  std::string subject;
  finding_status status = finding_status::ok;
  std::string detail;
  std::string advice = "";  // what to do; empty when nothing need be done
};

void to_json(nlohmann::json& json, const finding& one) {
  json = {{"subject", one.subject},
          {"status", finding_status_names[static_cast<int>(one.status)]},
          {"detail", one.detail},
          {"advice", text_or_null(one.advice)}};
}

// The output of a program that is asked about itself; empty when it cannot be had.
std::string output_of(const std::vector<std::string>& command) {
  try {
    const command_result result = run_command(command, query_timeout);
    return result.ending.by_signal || result.ending.code != 0 ? "" : result.output;
  } catch (const environment_error&) {
    return "";
  }
}

std::string file_text(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

finding examine_system() {
  utsname system = {};
  uname(&system);
  const std::string name = first_match(file_text("/etc/os-release"), "PRETTY_NAME=\"?([^\"\n]*)");
  return {"system", finding_status::ok,
          fmt::format("{}, {} {} {}, {} CPU cores", name.empty() ? "unknown distribution" : name,
                      system.sysname, system.release, system.machine, std::thread::hardware_concurrency())};
}

finding examine_program() {
  const build_info& build = this_build();
  return {"program", finding_status::ok,
          fmt::format("Kernel Lab {}, commit {}{}, {}", build.version, build.commit,
                      build.dirty ? " with changes" : "", build.compiler)};
}

struct worker_findings {
  finding worker;
  finding device;
  bool usable = false;
};

worker_findings examine_worker(backend kind) {
  const bool cuda = kind == backend::cuda;
  worker_findings result;
  result.worker.subject = cuda ? "CUDA worker" : "emulator worker";
  result.device.subject = "device";
  const worker_set workers(kind);
  if (const std::string problem = workers.problem(); !problem.empty()) {
    result.worker.status = finding_status::missing;
    result.worker.detail = problem;
    result.worker.advice = !cuda              ? "build again; it needs no GPU"
                           : workers.exists() ? ""
                                              : "install the CUDA Toolkit and build again";
    result.device = {"device", finding_status::missing, "no CUDA worker to ask",
                     "without a GPU, stages run on the emulator"};
    return result;
  }
  const probe answer = describe_device(workers);
  if (!answer.description) {
    result.worker.status = finding_status::missing;
    result.worker.detail = answer.problem;
    result.worker.advice = "build again";
    result.device = {"device", finding_status::missing, "the CUDA worker does not start",
                     "without a GPU, stages run on the emulator"};
    return result;
  }
  const auto& tracks = workers.is_single() ? answer.description->tracks : workers.names();
  std::size_t stages = 0;
  for (const auto& track : tracks) stages += track.stages.size();
  result.worker.detail = fmt::format("{}: {} tracks, {} stages", workers.place(), tracks.size(), stages);
  if (!answer.description->device) {
    result.device = {"device", finding_status::missing, answer.description->no_device,
                     "a GPU needs a driver (nvidia-smi must work); without one, stages run on the emulator"};
    return result;
  }
  result.usable = true;
  const device_record& device = *answer.description->device;
  result.device.detail = fmt::format("{}: {}", device.id, device.name);
  if (!device.compute_capability.empty()) {
    result.device.detail += ", compute capability " + device.compute_capability;
  }
  if (!device.driver.empty()) result.device.detail += ", driver " + device.driver;
  return result;
}

finding examine_driver() {
  const std::string program = find_program("nvidia-smi", {"/usr/bin"});
  if (program.empty()) {
    return {"driver", finding_status::missing, "nvidia-smi is not installed",
            "install NVIDIA's driver if there is a GPU"};
  }
  const std::string output = output_of({program, "--query-gpu=driver_version", "--format=csv,noheader"});
  if (output.empty()) {
    return {"driver", finding_status::missing, "nvidia-smi finds no driver or no GPU",
            "install NVIDIA's driver; after an update, restart"};
  }
  return {"driver", finding_status::ok, first_match(output, "([^\n]*)")};
}

finding examine_clocks() {
  const std::string program = find_program("nvidia-smi", {"/usr/bin"});
  const std::string output =
      program.empty() ? ""
                      : output_of({program, "--query-gpu=clocks.sm,clocks.max.sm,clocks_event_reasons.active",
                                   "--format=csv,noheader"});
  if (output.empty()) return {"clocks", finding_status::missing, "cannot be read", ""};
  return {"clocks", finding_status::ok,
          fmt::format("SM clock now, highest, reasons it is held down: {}", first_match(output, "([^\n]*)"))};
}

finding examine_toolkit() {
  const std::string program = find_program("nvcc", {"/usr/local/cuda/bin"});
  if (program.empty()) {
    return {"toolkit", finding_status::missing, "no nvcc in PATH or /usr/local/cuda/bin",
            "install the CUDA Toolkit 13; without it only the emulator is built"};
  }
  const std::string version = first_match(output_of({program, "--version"}), "V([0-9.]+)");
  if (version.empty())
    return {"toolkit", finding_status::warning, program + " does not run", "reinstall the toolkit"};
  finding result{"toolkit", finding_status::ok, fmt::format("nvcc {} ({})", version, program)};
  if (std::stoi(version) < 13) {
    result.status = finding_status::warning;
    result.advice = "the lab is written for CUDA 13";
  }
  return result;
}

finding examine_nsight_compute() {
  try {
    const std::string program = find_nsight_compute();
    const std::string version = first_match(output_of({program, "--version"}), "Version ([0-9.]+)");
    return {"Nsight Compute", finding_status::ok, fmt::format("{} ({})", version, program)};
  } catch (const environment_error&) {
    return {"Nsight Compute", finding_status::missing, "no ncu",
            "'lab profile' needs it; it comes with the CUDA Toolkit (package cuda-nsight-compute)"};
  }
}

finding examine_sanitizer() {
  const std::string program = find_program("compute-sanitizer", {"/usr/local/cuda/bin"});
  if (program.empty()) {
    return {"Compute Sanitizer", finding_status::missing, "no compute-sanitizer",
            "useful for stages of your own; it comes with the CUDA Toolkit (package cuda-sanitizer)"};
  }
  return {
      "Compute Sanitizer", finding_status::ok,
      fmt::format("{} ({})", first_match(output_of({program, "--version"}), "Version ([0-9.]+)"), program)};
}

finding examine_counter_permission() {
  const std::string setting =
      first_match(file_text("/proc/driver/nvidia/params"), "RmProfilingAdminOnly: *([0-9]+)");
  const std::string subject = "counter permission";
  if (setting.empty()) return {subject, finding_status::missing, "no driver to ask", ""};
  if (setting == "0") return {subject, finding_status::ok, "every user may read performance counters"};
  if (geteuid() == 0) {
    return {subject, finding_status::ok,
            "only administrators may read performance counters, and this is one"};
  }
  return {subject, finding_status::warning, "only administrators may read performance counters",
          "use sudo for 'lab profile', or set NVreg_RestrictProfilingToAdminUsers=0: "
          "https://developer.nvidia.com/ERR_NVGPUCTRPERM"};
}

finding examine_benchmark_library() {
  return {"Google Benchmark", finding_status::ok, LAB_BENCHMARK_VERSION};
}

std::string findings_text(const std::vector<finding>& findings) {
  constexpr std::size_t status_width = 7;  // of the longest, whether it stands here or not
  table_rows rows;
  for (const auto& one : findings) {
    const char* const status = finding_status_names[static_cast<int>(one.status)];
    rows.push_back({padded_right(status, status_width), one.subject, one.detail});
    if (!one.advice.empty()) rows.push_back({"", "", one.advice});
  }
  return aligned_text(rows, {alignment::left});
}

}  // namespace

int examine_machine(const doctor_options& options) {
  check_files({}, {{"--json", options.json_path}});
  const worker_findings cuda = examine_worker(backend::cuda);
  const worker_findings emulator = examine_worker(backend::emulator);
  const std::vector<finding> findings{examine_system(),    examine_program(),
                                      cuda.worker,         emulator.worker,
                                      examine_driver(),    cuda.device,
                                      examine_clocks(),    examine_counter_permission(),
                                      examine_toolkit(),   examine_nsight_compute(),
                                      examine_sanitizer(), examine_benchmark_library()};
  std::fputs(findings_text(findings).c_str(), stdout);
  const bool usable = cuda.usable || emulator.usable;
  const char* conclusion = cuda.usable ? "Stages run on the GPU."
                           : emulator.usable
                               ? "Stages run on the CPU emulator: right results, and no times of a GPU."
                               : "No stage can run here: build the emulator worker.";
  std::printf("\n%s\n", conclusion);
  if (!options.json_path.empty()) {
    write_file(
        options.json_path,
        json_text(
            {{"schema", "kernel-lab-doctor"}, {"version", 1}, {"usable", usable}, {"findings", findings}}));
  }
  return usable ? exit_ok : exit_usage;
}

}  // namespace lab::front
