// No exchange at all: blocks whose windows reach into the neighbour's part read the neighbour's memory. Those
// inputs are complete before the launch, so nobody waits.
#include "stages/moving_average_gpus/tiles.hpp"

namespace lab::moving_average_gpus::peer_loads {
namespace {

// The whole array, wherever it is.
struct all_values {
  const double* values[max_group];
  std::int64_t first[max_group];
  int own;

  __device__ double operator()(std::int64_t j) const {
    // exercise: owner
    int gpu = own;
    while (j < first[gpu]) --gpu;
    return values[gpu][j - first[gpu]];
    // end
  }
};

void launch(const input& in, const output& out, const gpu_group& group) {
  all_values everywhere{};
  for (std::int64_t k = 0; k < in.gpus(); ++k) {
    everywhere.values[k] = in.values[static_cast<std::size_t>(k)];
    everywhere.first[k] = in.part(k).first;
  }
  for (std::int64_t k = 0; k < in.gpus(); ++k) {
    const group_member& on = group[static_cast<std::size_t>(k)];
    const gpu_scope scope(on.device);
    everywhere.own = static_cast<int>(k);
    launch_part(in, out, k, everywhere, on);
  }
}

std::string unsupported(const problem::parameters& p) {
  const std::string why = why_no_peer_access(group_devices(static_cast<int>(p.gpus)));
  return why.empty() ? window_too_long(p) : why;
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "no exchange: the first tiles read the neighbour's memory",
                                        .launch = launch,
                                        .workspace_bytes = workspace_of_counter,
                                        .unsupported = unsupported,
                                        .tile = tile}};

}  // namespace
}  // namespace lab::moving_average_gpus::peer_loads
