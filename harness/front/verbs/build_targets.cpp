#include <algorithm>

#include "harness/front/process/errors.hpp"
#include "harness/front/verbs/verbs.hpp"
#include "harness/front/workers/devices.hpp"
#include "harness/front/workers/source_digests.hpp"

namespace lab::front {
namespace {

// The targets of the workers of what is selected, the tracks' own included.
void add_targets(const worker_set& workers, const stage_selector& select, std::vector<std::string>& targets) {
  if (!workers.exists() || workers.is_single()) return;
  for (const track_selection& selection : select(workers.names())) {
    targets.push_back(workers.target(selection.track->name));
    for (const stage_description* stage : selection.stages) targets.push_back(workers.target(stage->path));
  }
}

// Those of the selected stages whose kernels have changed, and so have to be observed before their tick.
stage_selector changed_among(const stage_selector& select) {
  return [&select](const std::vector<track_description>& tracks) {
    const source_digests digests = read_source_digests();
    std::vector<track_selection> selections = select(tracks);
    for (track_selection& one : selections) {
      std::erase_if(one.stages, [&](const auto* stage) { return !is_to_be_observed(digests, stage->path); });
    }
    std::erase_if(selections, [](const track_selection& one) { return one.stages.empty(); });
    return selections;
  };
}

}  // namespace

std::vector<std::string> build_targets(const build_request& request) {
  std::vector<std::string> targets = request.also;
  if (!request.select) return targets;
  for (const backend kind : needed_backends(request.device)) {
    add_targets(worker_set(kind), request.select, targets);
    if (kind != backend::emulator) continue;
    const worker_set observed(backend::observed);
    if (request.counts) add_targets(observed, request.select, targets);
    if (request.verifies) add_targets(observed, changed_among(request.select), targets);
  }
  return targets;
}

}  // namespace lab::front
