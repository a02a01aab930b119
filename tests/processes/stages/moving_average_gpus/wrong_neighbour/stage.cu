// Rank k has its halo sent by the rank after it, which has values of the same number and of another place.
#include <memory>

#include "common/nccl.hpp"
#include "harness/device/across_processes.hpp"
#include "stages/moving_average_gpus/tiles.hpp"

namespace lab::moving_average_gpus::wrong::wrong_neighbour {
namespace {

plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  const auto comms = communicators_of(group_devices(static_cast<int>(p.gpus)));
  return {.launch = [comms](const input& in, const output& out, const gpu_group& group) {
    const std::int64_t gpus = in.gpus();
    NCCL_CHECK(ncclGroupStart());
    for (std::int64_t k = 1; k < gpus; ++k) {
      const auto rank = static_cast<std::size_t>(k);
      const auto owner = static_cast<std::size_t>((k + 1) % gpus);
      const std::int64_t most = std::min(in.part(k).count, in.part((k + 1) % gpus).count);
      const auto count = static_cast<std::size_t>(std::min(halo_of(in, k), most));
      if (count == 0) continue;
      if (is_here(group[owner])) {
        NCCL_CHECK(ncclSend(in.values[owner], count, ncclDouble, static_cast<int>(rank), (*comms)[owner],
                            group[owner].stream));
      }
      if (is_here(group[rank])) {
        NCCL_CHECK(ncclRecv(halo_memory(group[rank]), count, ncclDouble, static_cast<int>(owner),
                            (*comms)[rank], group[rank].stream));
      }
    }
    NCCL_CHECK(ncclGroupEnd());
    for (std::int64_t k = 0; k < gpus; ++k) {
      const group_member& on = group[static_cast<std::size_t>(k)];
      if (!is_here(on)) continue;
      const gpu_scope scope(on.device);
      launch_part(in, out, k, with_halo(in, k, on), on);
    }
  }};
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "the halo of the wrong neighbour",
                                        .prepare = prepare,
                                        .workspace_bytes = workspace_with_halo,
                                        .unsupported = window_too_long,
                                        .tile = tile}};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::moving_average_gpus::wrong::wrong_neighbour
