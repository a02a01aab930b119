#include "harness/front/grade/gpu_part.hpp"

#include <fmt/format.h>

#include <utility>

#include "harness/front/output/format.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/run/session.hpp"
#include "harness/front/selection/parameters.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {
namespace {

constexpr double least_patience_seconds = 30;

// The sizes at which the stage's page has its times: where `lab run` takes several, the last. Words, such as
// an operation, are those of the exercise.
parameter_values measured_parameters(const track_description& track, const exercise& aims) {
  std::map<std::string, std::string> words;
  if (!aims.checkpoints.empty()) words = aims.checkpoints.front().at;
  parameter_values values;
  for (const parameter_description& parameter : track.parameters) {
    if (const auto given = words.find(parameter.name); given != words.end()) {
      values[parameter.name] = parse_value(track, parameter, given->second);
    } else if (!parameter.bench_defaults.empty()) {
      values[parameter.name] = parameter.bench_defaults.back();
    }
  }
  return values;
}

// The speed of light at these parameters; nothing where the track has none.
std::optional<ceiling_record> measured_ceiling(const connection& on, const std::string& track,
                                               const timing_terms& terms) {
  constexpr std::chrono::seconds patience{180};
  const answer_record answer = on.workers.request({{"op", "ceiling"},
                                                   {"track", track},
                                                   {"parameters", terms.parameters},
                                                   {"seed", terms.seed},
                                                   {"plan", terms.sampling}},
                                                  patience);
  if (answer.end == answer_end::error && answer.error == error_kind::unsupported) return std::nullopt;
  if (answer.end != answer_end::ok)
    throw environment_error("the speed of light could not be measured: " + answer.message);
  return answer.content.at("ceiling").get<ceiling_record>();
}

}  // namespace

process_limits gpu_worker_limits() {
  return {.cpu_seconds = 3600,  // of all cores together
          .data_bytes = std::uint64_t{64} << 30,
          // The driver reserves addresses for all memory of all GPUs, and of the host.
          .address_bytes = std::uint64_t{1} << 46,
          .file_bytes = std::uint64_t{64} << 20,
          .files = 4096,
          .processes = 1024};
}

gpu_part::gpu_part(const exercise& aims, const std::string& device, const confinement& walls,
                   std::uint64_t seed, std::uint64_t trial_seed, std::optional<double> timeout_seconds)
    : track_(aims.stage.substr(0, aims.stage.find('/'))), walls_(walls) {
  if (aims.sizes.contains("gpus"))
    throw environment_error(
        "its part is host code, which orders the work of several GPUs: the part would choose what is timed");
  status_line status;
  status.show(fmt::format("timing {}", aims.stage));
  const connection connected = connect(device, select_one(aims.stage));
  const auto [track, stage] = select_one_stage(connected.description.tracks, aims.stage);
  if (!stage->runnable || !stage->broken.empty())
    throw environment_error(
        fmt::format("{} itself: {}", aims.stage, stage->broken.empty() ? stage->why_not : stage->broken));
  timing_terms terms{.parameters = measured_parameters(*track, aims), .seed = seed, .trial_seed = trial_seed};
  const double patience = std::max(least_patience_seconds, timeout_seconds.value_or(0));
  terms.patience = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * patience));
  terms.ceiling = measured_ceiling(connected, track_, terms);
  const std::string parameters = parameters_text(*track, terms.parameters);
  reference_command_ = connected.workers.command({{"stage", aims.stage}});
  comparison_ = std::make_unique<time_against_reference>(
      stage_worker{walls_.around(reference_command_, {.to_read = {reference_command_.front()}, .gpus = true},
                                 gpu_worker_limits()),
                   aims.stage},
      std::move(terms));
  text_ = fmt::format("{} ({}), {}: {} itself takes {}", connected.description.device->id,
                      connected.description.device->name, parameters, stage->name,
                      humanised_time(comparison_->reference_time()));
}

timed_submission gpu_part::time(const std::string& source, const std::string& solution,
                                const exercise_slot::submission_terms& terms, const also_right& right,
                                const std::string& shown_as) const {
  const exercise_slot slot(track_, true);
  status_line status;
  status.show(shown_as + ": compiling for the GPU");
  const slot_build build = slot.build_submission(exercise_slot::part::gpu, source, solution, terms);
  if (!build.built) return {.fault = build.error};
  status.show(shown_as + ": on the GPU");
  // The devices are named to it as they are to the reference.
  stage_worker submitted{reference_command_, slot.stage(), true};
  submitted.command.front() = slot.worker(exercise_slot::part::gpu);
  if (std::string fault = right(submitted); !fault.empty()) return {.fault = std::move(fault)};
  const std::string program = submitted.command.front();
  submitted.command =
      walls_.around(submitted.command, {.to_read = {program}, .gpus = true}, gpu_worker_limits());
  return comparison_->time(submitted);
}

}  // namespace lab::front
