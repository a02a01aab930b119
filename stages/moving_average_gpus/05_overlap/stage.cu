// The halo behind the interior: most tiles need no neighbour, and are computed while the copy is under way on
// a second stream. The border's tiles follow the copy on that stream; the launch has ended when both have.
#include "stages/moving_average_gpus/tiles.hpp"

namespace lab::moving_average_gpus::overlap {
namespace {

void launch(const input& in, const output& out, const gpu_group& group) {
  for (std::int64_t k = 0; k < in.gpus(); ++k) {
    const group_member& on = group[static_cast<std::size_t>(k)];
    const gpu_scope scope(on.device);
    const tile_range all = tiles_of(in.part(k));
    const own_values values = with_halo(in, k, on);
    // The first tile all of whose windows begin in the part.
    const std::int64_t halo = halo_of(in, k);
    const std::int64_t complete = values.first + in.window - 1;
    const std::int64_t interior =
        halo == 0 ? all.begin : std::clamp((complete + tile - 1) / tile, all.begin, all.end);
    for (const halo_piece& piece : halo_pieces(in, k)) {
      CUDA_CHECK(cudaMemcpyPeerAsync(static_cast<double*>(on.scratch) + piece.place, on.device, piece.from,
                                     group[static_cast<std::size_t>(piece.owner)].device,
                                     static_cast<std::size_t>(piece.count) * sizeof(double), on.side));
    }
    launch_tiles(in, out, k, {interior, all.end}, values, 0, on.stream);
    launch_tiles(in, out, k, {all.begin, interior}, values, halo, on.side);
  }
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "the interior while the halo is under way, then the border",
                                        .launch = launch,
                                        .workspace_bytes = halo_bytes,
                                        .unsupported = window_too_long,
                                        .tile = tile}};

}  // namespace
}  // namespace lab::moving_average_gpus::overlap
