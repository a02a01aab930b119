#include "harness/device/worker.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <utility>

#include "common/file.hpp"
#include "common/gpu_group.hpp"
#include "common/memory.hpp"
#include "common/nvtx.hpp"
#include "common/process_group.hpp"
#include "common/stream.hpp"
#include "harness/device/across_processes.hpp"
#include "harness/device/counters.hpp"
#include "harness/device/host_clock.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/measure/ceilings.hpp"
#include "harness/device/measure/timed_launches.hpp"
#include "harness/device/parameters.hpp"
#include "harness/device/references.hpp"
#include "harness/device/stage_call.hpp"
#include "harness/device/trace.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"
#include "harness/turns.hpp"

namespace lab {

counted (*count_kernels)(workload& work, const launch_setup& setup, cudaStream_t stream) = nullptr;
seen_accesses (*see_accesses)(workload& work, const launch_setup& setup, const access_choice& choice,
                              cudaStream_t stream) = nullptr;

namespace {

// No device, or not the one that was asked for.
class no_device_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Of requests that name none.
constexpr std::uint64_t default_seed = 42;

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string first_match(const char* path, const char* pattern) {
  std::ifstream file(path);
  const std::regex wanted(pattern);
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (std::regex_search(line, match, wanted)) return match[1];
  }
  return "";
}

device_record describe_device(int index) {
  if (emulated) {
    const std::string processor = first_match("/proc/cpuinfo", "model name\\s*: (.*)");
    return {.id = "emulator", .name = processor.empty() ? "this host's processor" : processor};
  }
  const auto attribute = [index](cudaDeviceAttr which) {
    int value = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&value, which, index));
    return value;
  };
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
  int driver = 0;
  int runtime = 0;
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  std::string module = first_match("/proc/driver/nvidia/version", "Kernel Module.*?\\s([0-9]+\\.[0-9.]+)");
  if (!module.empty()) module += " ";
  return {.id = "cuda:" + std::to_string(index),
          .name = properties.name,
          .compute_capability = std::to_string(properties.major) + "." + std::to_string(properties.minor),
          .driver = module + "(CUDA " + version_text(driver) + ")",
          .toolkit = version_text(runtime),
          .multiprocessors = properties.multiProcessorCount,
          .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
          .l2_bytes = properties.l2CacheSize,
          .sm_clock_mhz = attribute(cudaDevAttrClockRate) / 1e3,
          .memory_clock_mhz = attribute(cudaDevAttrMemoryClockRate) / 1e3};
}

build_record describe_build() {
#if defined(__clang__)
  const std::string compiler = std::string("clang ") + __clang_version__;
#else
  const std::string compiler = std::string("g++ ") + __VERSION__;
#endif
  return {.compiler = compiler, .flags = LAB_BUILD_FLAGS};
}

std::string needs_text(const traits& needs) {
  const std::string gpu = needs.gpu_only ? "GPU" : "";
  if (needs.minimum_compute_capability == 0) return gpu;
  return gpu + (gpu.empty() ? "" : ", ") + "compute capability " +
         std::to_string(needs.minimum_compute_capability / 10) + "." +
         std::to_string(needs.minimum_compute_capability % 10);
}

stage_description describe_stage(const stage_entry& stage, const std::string& why_not) {
  const traits& t = stage.traits;
  return {.name = stage.name,
          .path = stage.path,
          .idea = stage.idea,
          .traits = {{"gpu_only", t.gpu_only},
                     {"minimum_compute_capability", t.minimum_compute_capability},
                     {"drifts", t.drifts},
                     {"forgets", t.forgets > 0},
                     {"leaks_nonfinite", t.leaks_nonfinite},
                     {"nondeterministic", t.nondeterministic},
                     {"synchronises", t.synchronises}},
          .needs = needs_text(t),
          .library = t.library,
          .expected_failure = expected_failure_text(stage),
          .runnable = why_not.empty(),
          .why_not = why_not};
}

parameter_values parameters_of(const nlohmann::json& request) {
  return request.value("parameters", parameter_values{});
}

answer_record failed(const failure_record& failure, nlohmann::json content) {
  return {.end = answer_end::failed,
          .message = failure_message(failure),
          .failure = failure,
          .content = std::move(content)};
}

// The closing line for a verification, and a timing where there is one.
answer_record conclude(const verification_record& verification,
                       nlohmann::json content = nlohmann::json::object()) {
  content["verification"] = verification;
  if (verification.passed || verification.failed_as_expected) return {.content = std::move(content)};
  return failed(*verification.failure, std::move(content));
}

verification_record from_check(const stage_entry& stage, const check_result& result, std::uint64_t seed) {
  return {.passed = !result.failure,
          .cases = 1,
          .compared = result.compared,
          .largest_error = result.largest_error,
          .seeds = {seed},
          .failed_as_expected = result.failure && is_expected(stage, *result.failure),
          .failure = result.failure};
}

// Of a stage that ended a request otherwise than by returning.
answer_record crashed(const std::string& how) {
  return failed({.kind = failure_kind::crash, .found = how}, nlohmann::json::object());
}

// Only what an observed kernel shows: whether results are right is asked elsewhere.
bool is_found_by_observing(failure_kind kind) {
  return kind == failure_kind::race || kind == failure_kind::uninitialised ||
         kind == failure_kind::out_of_bounds || kind == failure_kind::crash;
}

// The first warning of a launch, with its trial; empty where there is none.
std::string warning_of(const profile_record& profile, const std::string& trial) {
  const auto found = std::find_if(profile.diagnostics.begin(), profile.diagnostics.end(),
                                  [](const std::string& one) { return one.starts_with("warning: "); });
  return found == profile.diagnostics.end() ? "" : *found + " (" + trial + ")";
}

// The stage's first trials with observed kernels, in both orders of a block's threads; and larger ones, as
// many as come in a second. A warning, "warning: ...", is told as progress: it is known even where a later
// trial does not end.
verification_record observe(const stage_entry& stage, trial_seeds seeds, cudaStream_t stream,
                            const progress_sink& progress) {
  constexpr double seconds_of_larger = 1;
  const track& its_track = track_of(stage);
  verification_record record{.passed = true, .seeds = {seeds.fixed, seeds.drawn}};
  std::vector<trial> all = its_track.trials(stage, false, seeds.drawn);
  const std::size_t quick = all.size();
  const std::vector<trial> larger = its_track.larger_trials(stage, seeds.drawn);
  all.insert(all.end(), larger.begin(), larger.end());
  std::int64_t larger_begin = 0, told = 0;
  bool has_warned = false;
  for (std::size_t index = 0; index < all.size(); ++index) {
    if (index == quick) larger_begin = host_nanoseconds();
    if (index > quick && host_seconds_since(larger_begin) > seconds_of_larger) break;
    const trial& one = all[index];
    if (!its_track.unsupported(stage, one.parameters).empty()) continue;
    if (progress && host_seconds_since(told) > 1) {
      progress("trial " + std::to_string(index + 1) + " of " + std::to_string(all.size()) + ", observed");
      told = host_nanoseconds();
    }
    const auto work = its_track.make(stage, one.parameters, stream);
    const launch_setup setup{
        .input = one.input, .seed = one.seed.value_or(seeds.drawn), .reversed = record.cases % 2 == 1};
    const auto [found, profile] = count_kernels(*work, setup, stream);
    const std::string warning = warning_of(profile, trial_name(one.parameters, setup));
    if (progress && !warning.empty() && !std::exchange(has_warned, true)) progress(warning);
    ++record.cases;
    record.compared += found.compared;
    if (!found.failure || !is_found_by_observing(found.failure->kind)) continue;
    record.passed = false;
    record.failure = found.failure;
    record.failure->test_case = trial_name(one.parameters, setup) + ", observed";
    break;
  }
  return record;
}

answer_record error(error_kind kind, const std::string& message) {
  return {.end = answer_end::error, .message = message, .error = kind};
}

// In one of several processes: the device of this one, and no other's. The processes of a host have its
// devices in the order of a group's; one that is shown a single device, as Slurm does, has that. All throw
// unsupported_error where there are too few.
int device_of_this_process(int first) {
  struct process_device {
    char host[256] = "";
    char bus[32] = "";
    int devices = 0;
    int device = -1;
  };
  std::vector<int> here = processes::own_devices();
  std::stable_partition(here.begin(), here.end(), [&](int device) { return device == first; });
  const auto turn = static_cast<std::size_t>(processes::local_rank());
  process_device own{.devices = static_cast<int>(here.size())};
  processes::host().copy(own.host, sizeof own.host - 1);
  if (turn < here.size()) own.device = here[turn];
  if (here.size() == 1) own.device = here.front();
  if (own.device >= 0) {
#if LAB_EMULATED
    std::snprintf(own.bus, sizeof own.bus, "%zu", turn % here.size());
    if (turn >= here.size()) own.device = -1;
#else
    CUDA_CHECK(cudaDeviceGetPCIBusId(own.bus, sizeof own.bus, own.device));
#endif
  }
  const std::vector<process_device> all = processes::gather_values(own);
  for (auto one = all.begin(); one != all.end(); ++one) {
    const auto shares = [&](const process_device& other) {
      return std::strcmp(one->host, other.host) == 0 && std::strcmp(one->bus, other.bus) == 0;
    };
    if (one->device >= 0 && std::none_of(all.begin(), one, shares)) continue;
    throw unsupported_error(
        "needs a GPU for each process, and rank " + std::to_string(one - all.begin()) + " of " +
        std::to_string(all.size()) + " has none of its own: on " + one->host +
        (one->devices == 1 ? " there is 1" : " there are " + std::to_string(one->devices)) +
        (emulated ? " (LAB_EMULATOR_DEVICES)" : ""));
  }
  return own.device;
}

// A request about one stage, and where it is answered.
struct stage_request {
  const stage_entry& stage;
  const track& its_track;
  parameter_values parameters;
  trial_seeds seeds;
  const nlohmann::json& request;
  cudaStream_t on;
  const progress_sink& progress;

  [[nodiscard]] std::unique_ptr<workload> make() const { return its_track.make(stage, parameters, on); }
  [[nodiscard]] std::int64_t outputs() const { return its_track.ceiling(parameters, seeds.fixed).outputs; }
  // The answer to one run for a profiler. An expected failure that these parameters do not show to be wrong
  // has to prove it on its track's trials, as everywhere else.
  [[nodiscard]] answer_record concluded(const check_result& result, nlohmann::json content) const {
    const std::uint64_t seed = seeds.fixed;
    const bool must_prove = stage.traits.expected_failure && !result.failure;
    return conclude(must_prove ? verify(stage, {seed, seed + 1}, false, on) : from_check(stage, result, seed),
                    std::move(content));
  }
};

// What the speed of light moves for the request's parameters by this name.
ceiling_need need_of(const nlohmann::json& request, const char* parameters) {
  const track& its_track = find_track(request.at("track").get<std::string>());
  return its_track.ceiling(its_track.complete(request.value(parameters, parameter_values{})),
                           request.value("seed", default_seed));
}

// A few trials for a first look; otherwise what a measurement asks as well, at the sizes that it has by
// default.
answer_record verified(const stage_request& of) {
  const bool thorough = of.request.value("thorough", true);
  return conclude(verify(
      of.stage, of.seeds, thorough, of.on,
      thorough ? default_parameters(of.its_track.describe()) : std::vector<parameter_values>{}, of.progress));
}

answer_record measured_row(const stage_request& of) {
  const proof_to_time proof{.record = optional_member<verification_record>(of.request, "proved"),
                            .whole = of.request.value("whole", false)};
  measured result = verify_and_measure(of.stage, of.parameters, of.seeds, proof,
                                       of.request.at("plan").get<sampling_options>(), of.on, of.progress);
  nlohmann::json content = nlohmann::json::object();
  if (result.timing) content["timing"] = *result.timing;
  return conclude(result.verification, std::move(content));
}

// What an observed launch does.
answer_record counted_row(const stage_request& of) {
  if (count_kernels == nullptr) throw unsupported_error("this worker does not count what kernels do");
  const counted found = count_kernels(*of.make(), {.seed = of.seeds.fixed}, of.on);
  return of.concluded(found.check, {{"profile", found.profile}, {"outputs", of.outputs()}});
}

// What one block of an observed launch asks of memory.
answer_record accesses_row(const stage_request& of) {
  const auto choice = of.request.at("choice").get<access_choice>();
  if (see_accesses == nullptr) throw unsupported_error("this worker does not see what kernels ask of memory");
  if (choice.block < 0) throw usage_error("no block has a number below 0");
  const seen_accesses seen = see_accesses(*of.make(), {.seed = of.seeds.fixed}, choice, of.on);
  return of.concluded(seen.check, {{"accesses", seen.accesses}});
}

// One launch, for profilers and sanitizers.
answer_record run_once(const stage_request& of) {
  const auto work = of.make();
  work->prepare_to_count(pattern::random, of.seeds.fixed);
  CUDA_CHECK(cudaStreamSynchronize(of.on));
  {
    // Profilers capture this range alone.
    const nvtx_range range(of.stage.path);
    work->launch();
    CUDA_CHECK(cudaStreamSynchronize(of.on));
  }
  return of.concluded(work->check(), {{"outputs", of.outputs()}});
}

// A timeline of one launch, after another that has loaded what is loaded once.
answer_record run_traced(const stage_request& of) {
  launch_trace trace;
  const auto work = of.make();
  for (const bool recorded : {false, true}) {
    work->prepare_to_count(pattern::random, of.seeds.fixed);
    CUDA_CHECK(cudaStreamSynchronize(of.on));
    if (recorded) trace.begin();
    const nvtx_range range(of.stage.path);
    work->launch();
    if (recorded) trace.end_of_launch();
    CUDA_CHECK(cudaStreamSynchronize(of.on));
  }
  trace_record timeline = trace.take();
  return of.concluded(work->check(), {{"trace", timeline}});
}

answer_record observed(const stage_request& of) {
  if (count_kernels == nullptr) throw unsupported_error("this worker does not observe kernels");
  return conclude(observe(of.stage, of.seeds, of.on, of.progress));
}

answer_record applied(const stage_request& of) {
  const nvtx_range range(of.stage.path);
  const check_result found =
      of.its_track.apply(of.stage,
                         {.parameters = of.parameters,
                          .inputs = of.request.at("inputs").get<std::vector<std::string>>(),
                          .outputs = of.request.at("outputs").get<std::vector<std::string>>(),
                          .texts = of.request.value("texts", std::map<std::string, std::string>{}),
                          .allow_inexact = of.request.value("allow_inexact", false)},
                         of.on);
  return conclude(from_check(of.stage, found, of.seeds.fixed), {{"remark", found.remark}});
}

// By the track's defaults; unsupported_error where the stage does not run them.
parameter_values completed(const stage_entry& stage, const parameter_values& given) {
  const track& its_track = track_of(stage);
  parameter_values all = its_track.complete(given);
  if (const std::string why = its_track.unsupported(stage, all); !why.empty()) throw unsupported_error(why);
  return all;
}

answer_record answer_about(stage_request asked, const std::string& op) {
  struct operation {
    const char* op;
    bool at_parameters;  // completed
    answer_record (*answer)(const stage_request& of);
  };
  static constexpr operation operations[] = {
      {"verify", false, verified},      {"observe", false, observed},    {"apply", false, applied},
      {"measure", true, measured_row},  {"counters", true, counted_row}, {"trace", true, run_traced},
      {"accesses", true, accesses_row}, {"once", true, run_once},
  };
  for (const operation& one : operations) {
    if (op != one.op) continue;
    if (one.at_parameters) asked.parameters = completed(asked.stage, asked.parameters);
    return one.answer(asked);
  }
  throw usage_error("no request is called " + op);
}

}  // namespace

worker::worker(std::vector<int> devices, progress_sink progress)
    : devices_(std::move(devices)), progress_(std::move(progress)) {
  choose_gpus(devices_.size() > 1 ? devices_ : std::vector<int>{});
}

void worker::select_device() {
  if (device_selected_) return;
  int count = 0;
  if (const cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess) {
    cudaGetLastError();
    // Without a driver the runtime says cudaErrorInsufficientDriver; without a device, cudaErrorNoDevice.
    throw no_device_error(std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code));
  }
  for (const int index : devices_) {
    if (index >= 0 && index < count) continue;
    throw no_device_error("there is no device " + std::to_string(index) + ": " + std::to_string(count) +
                          " found");
  }
  // A device that is chosen is given a context: no process chooses another one's.
  const int first = devices_.front();
  CUDA_CHECK(cudaSetDevice(processes::are_several() ? device_of_this_process(first) : first));
  device_selected_ = true;
}

void worker::connect() {
  try {
    // This loads the driver, and disturbs nobody; a context does.
    int count = 0;
    cudaGetDeviceCount(&count);
    const turn device(device_turn);
    select_device();
  } catch (const std::exception&) {
    device_selected_ = false;
  }
}

worker_description worker::describe(std::optional<int> compute_capability, int processes, bool on_device) {
  worker_description description{.build = describe_build()};
  if (!compute_capability) {
    try {
      select_device();
      description.device = describe_device(devices_.front());
    } catch (const std::runtime_error& nothing) {
      description.no_device = nothing.what();
    }
  }
  for (const std::string& name : track_names()) {
    track_description track = find_track(name).describe();
    track.name = name;
    for (const stage_entry* stage : stages_of(name)) {
      std::string why_not;
      if (compute_capability) {
        why_not = why_not_runnable(*stage, *compute_capability);
        if (why_not.empty() && on_device && processes == 1)
          why_not = track_of(*stage).why_not_runnable(*stage);
      } else if (emulated || description.device) {
        why_not = why_not_runnable(*stage);
      }
      if (why_not.empty() && processes > 1 && !runs_across_processes(stage->path)) {
        why_not =
            "cannot run as several processes: it does not say that it sends what another GPU needs, and no "
            "process can name another's memory";
      }
      track.stages.push_back(describe_stage(*stage, why_not));
    }
    description.tracks.push_back(std::move(track));
  }
  return description;
}

answer_record worker::dispatch(const nlohmann::json& request) {
  const std::string op = request.at("op").get<std::string>();
  if (op == "describe") {
    return {.content = describe(optional_member<int>(request, "compute_capability"),
                                request.value("processes", 1), request.value("on_device", false))};
  }
  // No device is needed to say that the ceiling is another's.
  if (op == "ceiling" && request.contains("like") &&
      need_of(request, "like") == need_of(request, "parameters"))
    return {.content = {{"like", true}}};
  // Nor to say that a stage does not run what is measured. A stage that asks about the device asks device 0.
  if (op == "measure" && devices_.front() == 0 && !processes::are_several())
    completed(find_stage(request.at("stage").get<std::string>()), parameters_of(request));
  select_device();
  const stream work_stream;
  const cudaStream_t on = work_stream.get();
  if (op == "floor")
    return {.content = {{"timing", measure_floor(request.at("plan").get<sampling_options>(), on)}}};
  if (op == "ceiling") {
    ceiling_need need = need_of(request, "parameters");
    need.operation = request.value("operation", "");
    if (const std::string why = why_no_group(need.gpus); need.gpus > 1 && !why.empty())
      throw unsupported_error(why);
    const auto sampling = request.at("plan").get<sampling_options>();
    answer_record reply{.content = {{"ceiling", measure_ceiling(need, sampling, on)}}};
    if (const auto arithmetic = measure_arithmetic(need, sampling, on))
      reply.content["arithmetic"] = *arithmetic;
    if (progress_) progress_(timing_is_over);
    return reply;
  }

  const stage_entry& stage = find_stage(request.at("stage").get<std::string>());
  const track& its_track = track_of(stage);
  const std::uint64_t seed = request.value("seed", default_seed);
  const trial_seeds seeds{seed, request.value("trial_seed", seed + 1)};
  require_runnable(stage);
  if (processes::are_several() && !runs_across_processes(stage.path))
    throw unsupported_error(stage.path + " cannot run as several processes");
  at_stage_ = true;
  return answer_about({stage, its_track, parameters_of(request), seeds, request, on, progress_}, op);
}

answer_record worker::answer(const nlohmann::json& request) {
  try {
    if (request.contains("references"))
      references::receive(request.at("references").get<std::map<std::string, std::string>>());
    answer_record reply = dispatch(request);
    if (auto worked_out = references::worked_out_here(); !worked_out.empty())
      reply.content["references"] = std::move(worked_out);
    return reply;
  } catch (const memory_error& failure) {
    answer_record reply = error(error_kind::memory, failure.what());
    reply.needed_bytes = static_cast<std::int64_t>(failure.needed_bytes());
    reply.free_bytes = static_cast<std::int64_t>(failure.free_bytes());
    return reply;
  } catch (const unsupported_error& failure) {
    return error(error_kind::unsupported, failure.what());
  } catch (const stage_error& failure) {
    return crashed(failure.what());
  } catch (const source_error& failure) {
    answer_record reply = error(error_kind::usage, failure.what());
    reply.content["log"] = failure.log();
    return reply;
  } catch (const usage_error& failure) {
    return error(error_kind::usage, failure.what());
  } catch (const file_error& failure) {
    return error(error_kind::usage, failure.what());
  } catch (const nlohmann::json::exception& failure) {
    return error(error_kind::usage, std::string("malformed request: ") + failure.what());
  } catch (const no_device_error& failure) {
    return error(error_kind::environment, failure.what());
  } catch (const cuda_error& failure) {
    // Outside run_and_check and the verifier, which know the guilty launch: in `apply`, say. The stage is at
    // fault all the same.
    failure_record found = launch_failure(failure, failure_kind::crash);
    found.test_case = text_of(parameters_of(request));
    return failed(found, nlohmann::json::object());
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& failure) {
    if (at_stage_) return crashed(std::string("threw an exception: ") + failure.what());
    return error(error_kind::environment, failure.what());
  } catch (...) {
    return crashed("threw an exception: a value of type " + thrown_type());
  }
}

}  // namespace lab
