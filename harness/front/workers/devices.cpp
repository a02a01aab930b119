#include "harness/front/workers/devices.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "harness/front/output/regular_expression.hpp"
#include "harness/front/process/errors.hpp"

namespace lab::front {
namespace {

// A first start compiles nothing but may wake a device that sleeps.
constexpr std::chrono::seconds device_timeout{120};
// A stage's description touches no device.
constexpr std::chrono::seconds describe_timeout{10};
// Of a device that is not there: every stage is listed as if it ran.
constexpr int any_compute_capability = 1'000'000;

constexpr const char* backend_names[] = {"emulator", "cuda", "observed"};
constexpr const char* override_names[] = {"LAB_WORKER_EMULATOR", "LAB_WORKER_CUDA", "LAB_WORKER_OBSERVED"};

std::string not_built(backend kind) {
  constexpr const char* reasons[] = {"the emulator is left out of this build (it needs Boost.Context)",
                                     "this build is without CUDA (it needs the CUDA Toolkit)",
                                     "the emulator's observed kernels are left out of this build: counting "
                                     "needs libbacktrace, which comes with GCC, "
                                     "and a build without sanitizers"};
  return reasons[static_cast<int>(kind)];
}

// The value of an environment variable as a path; a name without a slash would be searched in PATH, which is
// not meant.
std::string path_from(const char* variable) {
  const char* const path = std::getenv(variable);
  return path == nullptr || *path == '\0' ? "" : std::filesystem::absolute(path).string();
}

// The lines "track/stage" of a backend's list, as descriptions that hold names alone.
std::vector<track_description> read_names(const std::string& path) {
  std::vector<track_description> tracks;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    const std::string track = line.substr(0, slash);
    if (tracks.empty() || tracks.back().name != track) tracks.push_back({.name = track});
    tracks.back().stages.push_back({.name = line.substr(slash + 1), .path = line});
  }
  return tracks;
}

// The closing line of the answer to `describe`, understood; or why there is none.
probe ask_for_description(const worker_set& workers, const nlohmann::json& message,
                          std::chrono::milliseconds timeout) {
  worker one = workers.start(message);
  // What the process prints matters only if it fails, and then its last words are part of the reason.
  one.set_output_sink([](const std::string&) {});
  const auto& binary = one.arguments().front();
  try {
    const answer_record answer = one.request(message, timeout);
    if (answer.end != answer_end::ok)
      return {std::nullopt, fmt::format("{} did not describe itself: {}", binary, answer.message)};
    const int protocol = answer.content.value("protocol", 0);
    if (protocol != protocol_version) {
      return {std::nullopt, fmt::format("{} speaks protocol {} and this program {}: build both again", binary,
                                        protocol, protocol_version)};
    }
    return {answer.content.get<worker_description>(), ""};
  } catch (const environment_error& error) {
    return {std::nullopt, error.what()};
  } catch (const interrupted&) {
    throw;
  } catch (const std::exception& error) {  // a description that does not follow the protocol
    return {std::nullopt, fmt::format("{} describes itself wrongly: {}", binary, error.what())};
  }
}

// 90 for "9.0"; 0 for a device that has none.
int number_of(const std::string& compute_capability) {
  const std::size_t point = compute_capability.find('.');
  if (point == std::string::npos) return 0;
  return 10 * std::atoi(compute_capability.c_str()) + std::atoi(compute_capability.c_str() + point + 1);
}

// What the stage's own worker says of it.
stage_description describe_stage(const worker_set& workers, const stage_description& named,
                                 int compute_capability, bool on_device) {
  const probe answer = ask_for_description(workers,
                                           {{"op", "describe"},
                                            {"stage", named.path},
                                            {"compute_capability", compute_capability},
                                            {"on_device", on_device},
                                            {"processes", workers.processes()}},
                                           describe_timeout);
  stage_description stage = named;
  stage.broken = answer.problem;
  if (!answer.description) return stage;
  const auto& tracks = answer.description->tracks;
  if (tracks.size() == 1 && tracks[0].stages.size() == 1 && tracks[0].stages[0].path == named.path)
    return tracks[0].stages[0];
  stage.broken = "its worker describes another stage";
  return stage;
}

// Adds what is selected, each by its own worker, to what is known of the device.
void describe_selected(const worker_set& workers, const stage_selector& select, worker_description& found) {
  const int capability = found.device ? number_of(found.device->compute_capability) : any_compute_capability;
  found.tracks.clear();
  for (const track_selection& selected : select(workers.names())) {
    const std::string& name = selected.track->name;
    const probe answer = ask_for_description(
        workers, {{"op", "describe"}, {"track", name}, {"compute_capability", capability}}, describe_timeout);
    if (!answer.description) throw environment_error(answer.problem);
    if (answer.description->tracks.size() != 1)
      throw environment_error(name + ": its worker describes another track");
    track_description track = answer.description->tracks.front();
    for (const stage_description* stage : selected.stages)
      track.stages.push_back(describe_stage(workers, *stage, capability, found.device.has_value()));
    found.tracks.push_back(std::move(track));
  }
}

}  // namespace

device_choice parse_device(const std::string& text) {
  if (text == "emulator") return {backend::emulator, 0};
  std::vector<int> indices;
  std::size_t begin = 0;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',', begin);
    more = comma != std::string::npos;
    const std::string one = text.substr(begin, more ? comma - begin : comma);
    begin = comma + 1;
    const auto parts = matched_groups(one, "cuda:([0-9]{1,4})");
    if (parts.empty()) {
      throw usage_error(fmt::format(
          "--device must be emulator or cuda:0, cuda:1, ..., or several of these as cuda:0,cuda:1, "
          "not '{}'",
          text));
    }
    const int index = std::stoi(parts[1]);
    if (std::find(indices.begin(), indices.end(), index) != indices.end())
      throw usage_error(fmt::format("--device: cuda:{} is named twice", index));
    indices.push_back(index);
  }
  return {backend::cuda, indices.front(), {indices.begin() + 1, indices.end()}};
}

bool has_gpu() {
  std::error_code error;
  if (std::filesystem::exists("/dev/dxg", error)) return true;  // Windows' subsystem for Linux
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename();
    if (name.size() > 6 && name.rfind("nvidia", 0) == 0 &&
        name.find_first_not_of("0123456789", 6) == std::string::npos)
      return true;
  }
  return false;
}

worker_set::worker_set(backend kind, const device_choice& choice, process_launch launch)
    : kind_(kind), devices_(std::to_string(choice.index)), launch_(std::move(launch)) {
  for (const int other : choice.others) devices_ += "," + std::to_string(other);
  single_ = path_from(override_names[static_cast<int>(kind)]);
  if (!single_.empty()) return;
  directory_ = path_from("LAB_WORKERS");
  if (directory_.empty())
    directory_ = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "workers";
  directory_ += std::string("/") + backend_names[static_cast<int>(kind)];
  tracks_ = read_names(directory_ + ".stages");
}

std::string worker_set::target(const std::string& stage_or_track) const {
  const bool is_stage = stage_or_track.find('/') != std::string::npos;
  return fmt::format("workers/{}/{}{}", backend_names[static_cast<int>(kind_)], stage_or_track,
                     is_stage ? "" : ".track");
}

std::string worker_set::binary(const std::string& stage_or_track) const {
  const bool is_stage = stage_or_track.find('/') != std::string::npos;
  return fmt::format("{}/{}{}", directory_, stage_or_track, is_stage ? "" : ".track");
}

std::string worker_set::problem() const {
  if (is_single()) return "";
  if (!exists()) return not_built(kind_);
  for (const auto& track : tracks_) {
    if (access(binary(track.name).c_str(), X_OK) == 0) return "";
  }
  if (kind_ == backend::cuda && !has_gpu())
    return "none is seen in /dev, so no CUDA kernel was built (with LAB_BUILD_ALL=1, ./lab builds them)";
  return fmt::format("no worker is built in {}: ./lab builds what a call needs", directory_);
}

std::vector<std::string> worker_set::command(const nlohmann::json& message) const {
  std::string program = single_;
  if (program.empty()) {
    std::string owner = message.value("stage", message.value("track", ""));
    for (auto track = tracks_.begin(); owner.empty() && track != tracks_.end(); ++track) {
      if (access(binary(track->name).c_str(), X_OK) == 0) owner = track->name;
    }
    program = binary(owner);
  }
  return {program, "--device", devices_};
}

worker worker_set::start(const nlohmann::json& message) const {
  const bool is_alone = message.at("op") == "describe" || message.at("op") == "floor";
  worker one(command(message), is_alone ? process_launch{} : launch_);
  one.set_output_sink(output_sink_);
  return one;
}

answer_record worker_set::request(const nlohmann::json& message, time_limits limits,
                                  const worker::line_sink& on_progress) const {
  worker one = start(message);
  return request(one, message, limits, on_progress);
}

answer_record worker_set::request(worker& one, const nlohmann::json& message, time_limits limits,
                                  const worker::line_sink& on_progress) const {
  nlohmann::json about = message;
  if (launch_.processes > 1) about["processes"] = launch_.processes;
  return one.request(about, limits, on_progress);
}

stage_selector select_by(const std::vector<std::string>& patterns, bool whole_tracks) {
  return with_whole_tracks([=](const auto& tracks) { return select_stages(tracks, patterns); }, whole_tracks);
}

stage_selector with_whole_tracks(stage_selector select, bool whole_tracks) {
  return [=, select = std::move(select)](const std::vector<track_description>& tracks) {
    auto selections = select(tracks);
    if (!whole_tracks) return selections;
    for (track_selection& selection : selections) {
      selection.stages.clear();
      for (const auto& stage : selection.track->stages) selection.stages.push_back(&stage);
    }
    return selections;
  };
}

stage_selector none_of(stage_selector select) {
  return [select = std::move(select)](const std::vector<track_description>& tracks) {
    static_cast<void>(select(tracks));
    return std::vector<track_selection>{};
  };
}

stage_selector only_track(stage_selector select, const std::string& track) {
  return [select = std::move(select), track](const std::vector<track_description>& tracks) {
    std::vector<track_selection> selections = select(tracks);
    std::erase_if(selections, [&](const track_selection& one) { return one.track->name != track; });
    return selections;
  };
}

stage_selector select_one(const std::string& name) {
  return [=](const std::vector<track_description>& tracks) {
    const stage_selection one = select_one_stage(tracks, name);
    return std::vector<track_selection>{{one.track, {one.stage}}};
  };
}

stage_selector select_some(const std::vector<std::string>& patterns) {
  return [=](const std::vector<track_description>& tracks) {
    try {
      return select_stages(tracks, patterns);
    } catch (const usage_error&) {
      if (patterns.size() != 1) throw;
      return select_one(patterns.front())(tracks);
    }
  };
}

stage_selector with_baseline(stage_selector select, const std::string& baseline) {
  return [=, select = std::move(select)](const std::vector<track_description>& tracks) {
    auto selections = select(tracks);
    if (baseline.empty()) return selections;
    auto& stages = selections.front().stages;
    if (selections.size() > 1 || stages.size() > 1)
      throw usage_error("--baseline is compared with one stage, and several were asked for");
    const stage_selection base = select_one_stage(tracks, baseline);
    if (base.stage->path == stages.front()->path)
      throw usage_error(fmt::format("--baseline: {} would be compared with itself", base.stage->path));
    if (base.track->name != selections.front().track->name)
      throw usage_error(
          fmt::format("--baseline: {} and {} are of different tracks, and solve different problems",
                      base.stage->path, stages.front()->path));
    stages.insert(stages.begin(), base.stage);
    return selections;
  };
}

worker_description described(const connection& connected, const stage_selector& select) {
  worker_description found = connected.description;
  describe_selected(connected.workers, select, found);
  return found;
}

probe describe_device(const worker_set& workers) {
  if (const std::string problem = workers.problem(); !problem.empty()) return {std::nullopt, problem};
  return ask_for_description(workers, {{"op", "describe"}}, device_timeout);
}

std::vector<backend> needed_backends(const std::string& device) {
  if (!device.empty()) return {parse_device(device).kind};
  const bool cuda = has_gpu() && worker_set(backend::cuda).exists();
  return {cuda ? backend::cuda : backend::emulator};
}

connection connect(const std::string& device, const stage_selector& select, bool device_needed,
                   const process_launch& launch, backend emulated) {
  const bool chosen = !device.empty();
  const device_choice choice = chosen ? parse_device(device) : device_choice{};
  const auto connected = [&](worker_set workers, worker_description found, std::string note) {
    if (!workers.is_single()) describe_selected(workers, select, found);
    return connection{std::move(workers), std::move(found), std::move(note)};
  };
  worker_set emulator(emulated, {}, launch);
  // One program for the emulator, a test's, counts nothing unless it has one beside it that does.
  const bool counts_nothing =
      !emulator.exists() || (!emulator.is_single() && worker_set(backend::emulator).is_single());
  if (emulated == backend::observed && counts_nothing) emulator = worker_set(backend::emulator, {}, launch);
  std::string no_cuda;
  if (choice.kind == backend::cuda) {
    worker_set cuda(backend::cuda, choice, launch);
    // What is named wrongly is wrong on every device.
    if (cuda.exists() && !cuda.is_single()) select(cuda.names());
    probe answer = describe_device(cuda);
    no_cuda = answer.description ? answer.description->no_device : answer.problem;
    const bool will_do = answer.description && !device_needed && (chosen || !emulator.exists());
    if (answer.description && (answer.description->device || will_do))
      return connected(std::move(cuda), std::move(*answer.description), "");
    if (chosen) throw environment_error(fmt::format("{}: no such device here: {}", device, no_cuda));
  }
  if (emulator.exists() && !emulator.is_single()) select(emulator.names());
  probe answer = describe_device(emulator);
  if (!answer.description)
    throw environment_error(chosen ? answer.problem
                                   : fmt::format("no CUDA device: {}; and {}", no_cuda, answer.problem));
  if (!answer.description->device)
    throw environment_error("the emulator has no device: " + answer.description->no_device);
  std::string note;
  if (!chosen) {
    note = fmt::format("no CUDA device: {}; running the portable stages on the CPU emulator", no_cuda);
  }
  return connected(std::move(emulator), std::move(*answer.description), std::move(note));
}

}  // namespace lab::front
