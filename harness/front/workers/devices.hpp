// Which device runs the stages, and the workers that know them: a program for each stage.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/selection/patterns.hpp"
#include "harness/front/workers/worker.hpp"
#include "harness/protocol.hpp"

namespace lab::front {

// What stages are built for; `observed` is the emulator with kernels that are watched, for counters.
enum class backend { emulator, cuda, observed };

struct device_choice {
  backend kind = backend::cuda;
  int index = 0;
  std::vector<int> others = {};  // further GPUs, of stages that use several, in this order
};

// "cuda:0", "cuda:0,cuda:2" or "emulator". Throws usage_error for anything else, and for a GPU that is named
// twice.
[[nodiscard]] device_choice parse_device(const std::string& text);

// Whether the system shows a GPU of NVIDIA's.
[[nodiscard]] bool has_gpu();

// The workers of one backend: those in the directory `workers` beside this program (or where LAB_WORKERS
// says), a program for each stage and one for each track; or the one program, which knows all its stages,
// that LAB_WORKER_CUDA, LAB_WORKER_EMULATOR or LAB_WORKER_OBSERVED names.
class worker_set {
 public:
  explicit worker_set(backend kind, const device_choice& choice = {}, process_launch launch = {});
  worker_set() : worker_set(backend::cuda) {}

  // Whether this program was built with the backend at all.
  [[nodiscard]] bool exists() const { return !single_.empty() || !tracks_.empty(); }
  [[nodiscard]] bool is_single() const { return !single_.empty(); }
  [[nodiscard]] backend kind() const { return kind_; }
  // Tracks and stages, of which nothing but names is known. None when one program knows all.
  [[nodiscard]] const std::vector<track_description>& names() const { return tracks_; }
  // The directory, or the one program.
  [[nodiscard]] const std::string& place() const { return is_single() ? single_ : directory_; }
  [[nodiscard]] int processes() const { return launch_.processes; }
  // Why nothing can be asked of the workers; empty when something can.
  [[nodiscard]] std::string problem() const;
  // Where the worker of a stage (or of a track) is, from the directory in which the build is.
  [[nodiscard]] std::string target(const std::string& stage_or_track) const;

  // The worker for this message: several processes for one about a stage or a track, where that was asked
  // for, and one process for what describes them.
  [[nodiscard]] worker start(const nlohmann::json& message) const;
  // The command that starts the worker for this message: of its stage, of its track, or of any track.
  [[nodiscard]] std::vector<std::string> command(const nlohmann::json& message) const;
  void set_output_sink(worker::line_sink sink) { output_sink_ = std::move(sink); }
  // As worker::request, with a fresh process for each message; or with `one`, which start() gave for such a
  // message.
  answer_record request(const nlohmann::json& message, time_limits limits,
                        const worker::line_sink& on_progress = {}) const;
  answer_record request(worker& one, const nlohmann::json& message, time_limits limits,
                        const worker::line_sink& on_progress) const;

 private:
  [[nodiscard]] std::string binary(const std::string& stage_or_track) const;

  backend kind_;
  std::string devices_;  // "0", or "0,2"
  process_launch launch_;
  std::string single_;
  std::string directory_;
  std::vector<track_description> tracks_;
  worker::line_sink output_sink_;
};

// Which of the tracks and stages (names alone) are wanted. Throws usage_error when none are.
using stage_selector = std::function<std::vector<track_selection>(const std::vector<track_description>&)>;

// Those that the patterns name; with `whole_tracks` also the other stages of their tracks.
[[nodiscard]] stage_selector select_by(const std::vector<std::string>& patterns, bool whole_tracks = false);
[[nodiscard]] stage_selector with_whole_tracks(stage_selector select, bool whole_tracks);

// Nothing, of what `select` would yield: names that are wrong are refused all the same.
[[nodiscard]] stage_selector none_of(stage_selector select);
// The selected stages of this track.
[[nodiscard]] stage_selector only_track(stage_selector select, const std::string& track);

// The one that `name` means (select_one_stage).
[[nodiscard]] stage_selector select_one(const std::string& name);

// Those that the patterns name, or else the one that the only pattern means.
[[nodiscard]] stage_selector select_some(const std::vector<std::string>& patterns);

// The one stage that `select` yields, and before it the one that `baseline` means, of the same track; all
// that it yields where there is no baseline. Throws usage_error where it yields several, or the two are one.
[[nodiscard]] stage_selector with_baseline(stage_selector select, const std::string& baseline);

// A device, its workers, and what they say of themselves.
struct connection {
  worker_set workers;
  worker_description description;  // of the tracks and stages that were selected
  std::string note;                // why it is the emulator when nobody asked for it; else empty
};

// The device that `device` names; when empty, cuda:0 where there is one, else the emulator. With
// `device_needed` false, workers without a device will do (to list what they know). A stage whose worker does
// not describe it is `broken`; with a `launch` of several processes, one that cannot run so is not runnable.
// Throws usage_error or environment_error when that device is not here. Of the emulator the workers are those
// of `emulated`: with backend::observed those that count, or the plain ones where there are none that count.
[[nodiscard]] connection connect(const std::string& device, const stage_selector& select,
                                 bool device_needed = true, const process_launch& launch = {},
                                 backend emulated = backend::emulator);

// What the connection's workers say of what is selected, which connect() was not asked for. Throws as it
// does.
[[nodiscard]] worker_description described(const connection& connected, const stage_selector& select);

// What the workers say of their device, or why they say nothing.
struct probe {
  std::optional<worker_description> description;
  std::string problem;
};
[[nodiscard]] probe describe_device(const worker_set& workers);

// Where a verb with these options runs, as connect() chooses it, and so what must be built.
[[nodiscard]] std::vector<backend> needed_backends(const std::string& device);

}  // namespace lab::front
