// Right, but that rank 0 sends one value more, which nobody receives: a GPU would wait for ever.
#include <memory>

#include "common/nccl.hpp"
#include "harness/device/across_processes.hpp"
#include "stages/moving_average_gpus/tiles.hpp"

namespace lab::moving_average_gpus::wrong::sends_in_vain {
namespace {

plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  const auto comms = communicators_of(group_devices(static_cast<int>(p.gpus)));
  return {.launch = [comms](const input& in, const output& out, const gpu_group& group) {
    // One group: neither side waits for a call that this thread would make only later.
    NCCL_CHECK(ncclGroupStart());
    for (std::int64_t k = 1; k < in.gpus(); ++k) {
      const auto rank = static_cast<std::size_t>(k);
      for (const halo_piece& piece : halo_pieces(in, k)) {
        const auto owner = static_cast<std::size_t>(piece.owner);
        const auto count = static_cast<std::size_t>(piece.count);
        if (is_here(group[owner])) {
          NCCL_CHECK(ncclSend(piece.from, count, ncclDouble, static_cast<int>(rank), (*comms)[owner],
                              group[owner].stream));
        }
        if (is_here(group[rank])) {
          NCCL_CHECK(ncclRecv(halo_memory(group[rank]) + piece.place, count, ncclDouble,
                              static_cast<int>(owner), (*comms)[rank], group[rank].stream));
        }
      }
    }
    if (is_here(group[0]) && in.part(0).count > 0) {
      NCCL_CHECK(ncclSend(in.values[0], 1, ncclDouble, static_cast<int>(in.gpus() - 1), (*comms)[0],
                          group[0].stream));
    }
    NCCL_CHECK(ncclGroupEnd());
    for (std::int64_t k = 0; k < in.gpus(); ++k) {
      const group_member& on = group[static_cast<std::size_t>(k)];
      if (!is_here(on)) continue;
      const gpu_scope scope(on.device);
      launch_part(in, out, k, with_halo(in, k, on), on);
    }
  }};
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a send that nobody receives",
                                        .prepare = prepare,
                                        .workspace_bytes = workspace_with_halo,
                                        .unsupported = window_too_long,
                                        .tile = tile}};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::moving_average_gpus::wrong::sends_in_vain
