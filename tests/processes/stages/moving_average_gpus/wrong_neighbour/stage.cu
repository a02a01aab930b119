// Rank k has its halo sent by the rank after it, which has values of the same number and of another place.
#include "tests/processes/moving_average_gpus.hpp"

namespace lab::moving_average_gpus::wrong {
namespace {

void of_the_next(const input& in, const gpu_group& group, const communicators& comms) {
  for (std::int64_t k = 1; k < in.gpus(); ++k) {
    const std::int64_t next = (k + 1) % in.gpus();
    const std::int64_t count = std::min(halo_of(in, k), std::min(in.part(k).count, in.part(next).count));
    if (count == 0) continue;
    const auto owner = static_cast<std::size_t>(next);
    exchange(group, comms, owner, static_cast<std::size_t>(k), in.values[owner], 0,
             static_cast<std::size_t>(count), &group_member::stream);
  }
}

const registration<problem> registered{LAB_PATH, as_stage<of_the_next>("the halo of the wrong neighbour")};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::moving_average_gpus::wrong
