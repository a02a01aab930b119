// The halo is copied while the interior, which needs no neighbour, is computed: the copy runs on a second
// stream. The border's tiles follow it there. The launch ends when both streams have finished.
//
// The interior's blocks occupy every multiprocessor until they end, so the border waits for the first of them
// to end, not for the last. They end one after another over the time of one chunk (12 tiles at a window of
// 3000, about 10 us), which is about as long as the border takes. A multiprocessor reserved for the border
// would be missing for the whole interior. A higher stream priority would not help: no block of the interior
// is waiting.
#include "stages/moving_average_gpus/tiles.hpp"

namespace lab::moving_average_gpus::overlap {
namespace {

void launch(const input& in, const output& out, const gpu_group& group) {
  // First on every GPU: the last GPU would begin the later by what the host enqueues before.
  for (std::int64_t k = 0; k < in.gpus(); ++k) {
    const group_member& on = group[static_cast<std::size_t>(k)];
    const gpu_scope scope(on.device);
    launch_interior(in, out, k, on);
  }
  for (std::int64_t k = 0; k < in.gpus(); ++k) {
    const group_member& on = group[static_cast<std::size_t>(k)];
    const gpu_scope scope(on.device);
    // exercise: border
    for (const halo_piece& piece : halo_pieces(in, k)) {
      CUDA_CHECK(cudaMemcpyPeerAsync(halo_memory(on) + piece.place, on.device, piece.from,
                                     group[static_cast<std::size_t>(piece.owner)].device,
                                     static_cast<std::size_t>(piece.count) * sizeof(double), on.side));
    }
    launch_border(in, out, k, with_halo(in, k, on), on.side);
    // end
  }
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "the interior while the halo is under way, then the border",
                                        .launch = launch,
                                        .workspace_bytes = workspace_with_halo,
                                        .unsupported = window_too_long,
                                        .tile = tile}};

}  // namespace
}  // namespace lab::moving_average_gpus::overlap
