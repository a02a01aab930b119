// NCCL copies the halo: the owner sends and the neighbour receives, in one group, each on its own GPU's
// stream. The same calls work between processes and between machines, where a GPU cannot address another's
// memory. There each process makes the calls of its own GPU.
#include <memory>

#include "common/nccl.hpp"
#include "harness/device/across_processes.hpp"
#include "stages/moving_average_gpus/tiles.hpp"

namespace lab::moving_average_gpus::nccl_send_receive {
namespace {

plan<problem> prepare([[maybe_unused]] const problem::parameters& p, cudaStream_t /*stream*/) {
#if LAB_WITH_NCCL
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
    NCCL_CHECK(ncclGroupEnd());
    for (std::int64_t k = 0; k < in.gpus(); ++k) {
      const group_member& on = group[static_cast<std::size_t>(k)];
      if (!is_here(on)) continue;
      const gpu_scope scope(on.device);
      launch_part(in, out, k, with_halo(in, k, on), on);
    }
  }};
#else
  return {};
#endif
}

std::string unsupported(const problem::parameters& p) {
  const std::string why = why_no_nccl();
  return why.empty() ? window_too_long(p) : why;
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "the halo by NCCL: send and receive in one group",
                                        .prepare = prepare,
                                        .workspace_bytes = workspace_with_halo,
                                        .unsupported = unsupported,
                                        .tile = tile}};
const across_processes spread{LAB_PATH};

}  // namespace
}  // namespace lab::moving_average_gpus::nccl_send_receive
