#include <algorithm>

#include "harness/front/devices.hpp"
#include "harness/front/errors.hpp"
#include "harness/front/verbs.hpp"

namespace lab {
namespace {

// The targets of the workers of what is selected, the tracks' own included.
void add_targets(const worker_set& workers, const stage_selector& select, std::vector<std::string>& targets) {
  if (!workers.exists() || workers.is_single()) return;
  for (const track_selection& selection : select(workers.names())) {
    targets.push_back(workers.target(selection.track->name));
    for (const stage_description* stage : selection.stages) targets.push_back(workers.target(stage->path));
  }
}

// Stages whose observed kernels the call needs although it does not count.
std::vector<track_selection> stages_to_observe(const std::vector<track_description>& /*tracks*/) {
  return {};
}

}  // namespace

std::vector<std::string> build_targets(const build_request& request) {
  std::vector<std::string> targets;
  for (const backend kind : needed_backends(request.device)) {
    add_targets(worker_set(kind), request.select, targets);
    if (kind != backend::emulator) continue;
    const worker_set observed(backend::observed);
    add_targets(observed, request.counts ? request.select : stages_to_observe, targets);
  }
  return targets;
}

}  // namespace lab
