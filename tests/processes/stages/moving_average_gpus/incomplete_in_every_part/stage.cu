// Takes the first outputs of every rank for incomplete windows, as if each had an array of its own.
#include "common/nccl.hpp"
#include "harness/device/across_processes.hpp"
#include "stages/moving_average_gpus/tiles.hpp"

namespace lab::moving_average_gpus::wrong::incomplete_in_every_part {
namespace {

void launch(const input& in, const output& out, const gpu_group& group) {
  for (std::size_t k = 0; k < group.size(); ++k) {
    const group_member& on = group[k];
    if (!is_here(on)) continue;
    const gpu_scope scope(on.device);
    const part own = in.part(static_cast<std::int64_t>(k));
    const input alone{{in.values[k]}, own.count, in.window};
    launch_part(alone, {{out.averages[k]}}, 0, own_values{in.values[k], nullptr, 0, 0}, on);
  }
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "every process for itself",
                                        .launch = launch,
                                        .workspace_bytes = workspace_of_counter,
                                        .unsupported = window_too_long,
                                        .tile = tile}};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::moving_average_gpus::wrong::incomplete_in_every_part
