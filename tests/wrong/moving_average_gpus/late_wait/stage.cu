// Waits for an event before it is recorded, which waits for nothing.
#include "stages/moving_average_gpus/tiles.hpp"

namespace lab::moving_average_gpus::wrong::late_wait {
namespace {

void launch(const input& in, const output& out, const gpu_group& group) {
  for (std::int64_t k = 0; k < in.gpus(); ++k) {
    const group_member& on = group[static_cast<std::size_t>(k)];
    const gpu_scope scope(on.device);
    CUDA_CHECK(cudaStreamWaitEvent(on.stream, on.events[0]));
    for (const halo_piece& piece : halo_pieces(in, k)) {
      CUDA_CHECK(cudaMemcpyPeerAsync(halo_memory(on) + piece.place, on.device, piece.from,
                                     group[static_cast<std::size_t>(piece.owner)].device,
                                     static_cast<std::size_t>(piece.count) * sizeof(double), on.side));
    }
    CUDA_CHECK(cudaEventRecord(on.events[0], on.side));
    launch_part(in, out, k, with_halo(in, k, on), on);
  }
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "waits too soon",
                                        .launch = launch,
                                        .workspace_bytes = workspace_with_halo,
                                        .unsupported = window_too_long,
                                        .tile = tile}};

}  // namespace
}  // namespace lab::moving_average_gpus::wrong::late_wait
