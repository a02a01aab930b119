// The halo behind the interior: most tiles need no neighbour, and are computed while the copy is under way on
// a second stream. The border's tiles follow the copy on that stream; the launch has ended when both have.
//
// The interior's blocks take every multiprocessor until they end, so that the border waits for the first of
// them, and not for the last: they end one after the other, over the time of a chunk (12 tiles at a window of
// 3000, about 10 us), which is as long as the border takes. A multiprocessor kept free for it would be
// missing for all of the interior, and a stream's priority would change nothing: no block of the interior
// waits.
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
