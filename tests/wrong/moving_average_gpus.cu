// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "stages/moving_average_gpus/tiles.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::moving_average_gpus::wrong {
namespace {

// Computes the border on one stream while the halo is still under way on the other.
void border_too_early(const input& in, const output& out, const gpu_group& group) {
  for (std::int64_t k = 0; k < in.gpus(); ++k) {
    const group_member& on = group[static_cast<std::size_t>(k)];
    const gpu_scope scope(on.device);
    for (const halo_piece& piece : halo_pieces(in, k)) {
      CUDA_CHECK(cudaMemcpyPeerAsync(halo_memory(on) + piece.place, on.device, piece.from,
                                     group[static_cast<std::size_t>(piece.owner)].device,
                                     static_cast<std::size_t>(piece.count) * sizeof(double), on.side));
    }
    launch_part(in, out, k, with_halo(in, k, on), on);
  }
}
STAGE(border_too_early, {.idea = "no wait for the halo",
                         .launch = border_too_early,
                         .workspace_bytes = workspace_with_halo,
                         .unsupported = window_too_long,
                         .tile = tile});

// Takes NaN in the halo for 0, where there are three GPUs.
namespace drops_nan_of_halo {
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

STAGE(drops_nan_of_halo, {.idea = "no NaN in the halo",
                          .launch = launch,
                          .workspace_bytes = workspace_with_halo,
                          .unsupported = window_too_long,
                          .tile = tile});
}  // namespace drops_nan_of_halo

// Takes the neighbour's first values for its last ones.
void halo_of_wrong_end(const input& in, const output& out, const gpu_group& group) {
  for (std::int64_t k = 0; k < in.gpus(); ++k) {
    const group_member& on = group[static_cast<std::size_t>(k)];
    const gpu_scope scope(on.device);
    for (const halo_piece& piece : halo_pieces(in, k)) {
      const auto owner = static_cast<std::size_t>(piece.owner);
      CUDA_CHECK(cudaMemcpyPeerAsync(halo_memory(on) + piece.place, on.device, in.values[owner],
                                     group[owner].device,
                                     static_cast<std::size_t>(piece.count) * sizeof(double), on.stream));
    }
    launch_part(in, out, k, with_halo(in, k, on), on);
  }
}
STAGE(halo_of_wrong_end, {.idea = "the wrong end of the neighbour",
                          .launch = halo_of_wrong_end,
                          .workspace_bytes = workspace_with_halo,
                          .unsupported = window_too_long,
                          .tile = tile});

// Takes the first outputs of every GPU for incomplete windows, as if each had an array of its own.
void incomplete_in_every_part(const input& in, const output& out, const gpu_group& group) {
  for (std::size_t k = 0; k < group.size(); ++k) {
    const group_member& on = group[k];
    const gpu_scope scope(on.device);
    const part own = in.part(static_cast<std::int64_t>(k));
    const input alone{{in.values[k]}, own.count, in.window};
    launch_part(alone, {{out.averages[k]}}, 0, own_values{in.values[k], nullptr, 0, 0}, on);
  }
}
STAGE(incomplete_in_every_part, {.idea = "every GPU for itself",
                                 .launch = incomplete_in_every_part,
                                 .workspace_bytes = workspace_of_counter,
                                 .unsupported = window_too_long,
                                 .tile = tile});

// Waits for an event before it is recorded, which waits for nothing.
void late_wait(const input& in, const output& out, const gpu_group& group) {
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
STAGE(late_wait, {.idea = "waits too soon",
                  .launch = late_wait,
                  .workspace_bytes = workspace_with_halo,
                  .unsupported = window_too_long,
                  .tile = tile});

}  // namespace
}  // namespace lab::moving_average_gpus::wrong
