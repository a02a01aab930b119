// Takes NaN in the halo for 0, where there are three GPUs.
#include "stages/moving_average_gpus/tiles.hpp"

namespace lab::moving_average_gpus::wrong::drops_nan_of_halo {
namespace {

__global__ void clean_kernel(double* halo, std::int64_t count) {
  for (std::int64_t k = threadIdx.x; k < count; k += blockDim.x) {
    if (halo[k] != halo[k]) halo[k] = 0;
  }
}

void launch(const input& in, const output& out, const gpu_group& group) {
  for (std::int64_t k = 0; k < in.gpus(); ++k) {
    const group_member& on = group[static_cast<std::size_t>(k)];
    const gpu_scope scope(on.device);
    for (const halo_piece& piece : halo_pieces(in, k)) {
      CUDA_CHECK(cudaMemcpyPeerAsync(halo_memory(on) + piece.place, on.device, piece.from,
                                     group[static_cast<std::size_t>(piece.owner)].device,
                                     static_cast<std::size_t>(piece.count) * sizeof(double), on.stream));
    }
    if (in.gpus() == 3)
      lab::launch(clean_kernel, dim3(1), dim3(64), 0, on.stream, halo_memory(on), halo_of(in, k));
    launch_part(in, out, k, with_halo(in, k, on), on);
  }
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "no NaN in the halo",
                                        .launch = launch,
                                        .workspace_bytes = workspace_with_halo,
                                        .unsupported = window_too_long,
                                        .tile = tile}};

}  // namespace
}  // namespace lab::moving_average_gpus::wrong::drops_nan_of_halo
