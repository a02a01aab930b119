#include "harness/front/run/build_targets.hpp"

#include <algorithm>

#include "harness/front/process/build_info.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/run/proofs.hpp"
#include "harness/front/workers/devices.hpp"
#include "harness/front/workers/source_digests.hpp"

namespace lab::front {
namespace {

// The targets of the workers of what is selected, the tracks' own included.
void add_targets(const worker_set& workers, const stage_selector& select, std::vector<std::string>& targets) {
  if (!workers.exists() || workers.is_single()) return;
  const auto add = [&](std::string target) {
    if (std::find(targets.begin(), targets.end(), target) == targets.end())
      targets.push_back(std::move(target));
  };
  for (const track_selection& selection : select(workers.names())) {
    add(workers.target(selection.track->name));
    for (const stage_description* stage : selection.stages) add(workers.target(stage->path));
  }
}

// Those of the selected stages that have no proof as they stand.
stage_selector unproved_among(const build_request& request) {
  return [&request](const std::vector<track_description>& tracks) {
    const proof_store proofs("emulator", this_build().flags, read_source_digests());
    std::vector<track_selection> selections = request.select(tracks);
    for (track_selection& one : selections) {
      std::erase_if(one.stages,
                    [&](const auto* stage) { return !request.anew && proofs.find(stage->path).has_value(); });
    }
    std::erase_if(selections, [](const track_selection& one) { return one.stages.empty(); });
    return selections;
  };
}

}  // namespace

build_request nothing_to_build() {
  return {.device = "emulator",
          .select = [](const std::vector<track_description>&) { return std::vector<track_selection>{}; }};
}

std::vector<std::string> build_targets(const build_request& request) {
  std::vector<std::string> targets = request.also;
  if (!request.select) return targets;
  for (const backend kind : needed_backends(request.device)) {
    const worker_set workers(kind);
    if (kind != backend::emulator) {
      add_targets(workers, request.select, targets);
      continue;
    }
    const worker_set observed(backend::observed);
    // Where nothing counts, times are shown.
    if (request.plain || !observed.exists()) add_targets(workers, request.select, targets);
    if (request.counts) add_targets(observed, request.select, targets);
    if (!request.proves) continue;
    add_targets(workers, unproved_among(request), targets);
    add_targets(observed, unproved_among(request), targets);
  }
  return targets;
}

}  // namespace lab::front
