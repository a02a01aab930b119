// The halo goes from GPU to GPU: one copy on the receiver's stream, over NVLink where there is one. The host
// only enqueues and never waits. (Without peer access the driver itself copies through the host.)
#include "stages/moving_average_gpus/tiles.hpp"

namespace lab::moving_average_gpus::peer_copy {
namespace {

void launch(const input& in, const output& out, const gpu_group& group) {
  for (std::int64_t k = 0; k < in.gpus(); ++k) {
    const group_member& on = group[static_cast<std::size_t>(k)];
    const gpu_scope scope(on.device);
    // exercise: copy
    for (const halo_piece& piece : halo_pieces(in, k)) {
      CUDA_CHECK(cudaMemcpyPeerAsync(halo_memory(on) + piece.place, on.device, piece.from,
                                     group[static_cast<std::size_t>(piece.owner)].device,
                                     static_cast<std::size_t>(piece.count) * sizeof(double), on.stream));
    }
    launch_part(in, out, k, with_halo(in, k, on), on);
    // end
  }
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "the halo by a copy from GPU to GPU",
                                        .launch = launch,
                                        .workspace_bytes = workspace_with_halo,
                                        .unsupported = window_too_long,
                                        .tile = tile}};

}  // namespace
}  // namespace lab::moving_average_gpus::peer_copy
