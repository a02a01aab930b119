// Computes the border on one stream while the halo is still received on the other.
#include "tests/processes/moving_average_gpus.hpp"

namespace lab::moving_average_gpus::wrong {
namespace {

void on_the_side(const input& in, const gpu_group& group, const communicators& comms) {
  exchange_all(in, group, comms, &group_member::side);
}

const registration<problem> registered{LAB_PATH, as_stage<on_the_side>("no wait for the halo")};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::moving_average_gpus::wrong
