// Right, but that rank 0 sends one value more, which nobody receives: a GPU would wait for ever.
#include "tests/processes/moving_average_gpus.hpp"

namespace lab::moving_average_gpus::wrong {
namespace {

void and_one_more(const input& in, const gpu_group& group, const communicators& comms) {
  exchange_all(in, group, comms, &group_member::stream);
  if (is_here(group[0]) && in.part(0).count > 0)
    NCCL_CHECK(
        ncclSend(in.values[0], 1, ncclDouble, static_cast<int>(in.gpus() - 1), comms[0], group[0].stream));
}

const registration<problem> registered{LAB_PATH, as_stage<and_one_more>("a send that nobody receives")};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::moving_average_gpus::wrong
