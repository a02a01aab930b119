// The track's wrong kernels, each to be refused for one mistake (tests/device/group_test.cpp).
#include "stages/moving_average_gpus/tiles.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::moving_average_gpus::wrong {
namespace {

// Calls fetch(k, on) for each GPU, which has its halo copied, and then launches its part.
template <class Fetch>
void launch_with_halo(const input& in, const output& out, const gpu_group& group, const Fetch& fetch) {
  for (std::int64_t k = 0; k < in.gpus(); ++k) {
    const group_member& on = group[static_cast<std::size_t>(k)];
    const gpu_scope scope(on.device);
    fetch(k, on);
    launch_part(in, out, k, with_halo(in, k, on), on);
  }
}

void copy_piece(const gpu_group& group, const group_member& on, const halo_piece& piece, const double* from,
                cudaStream_t stream) {
  CUDA_CHECK(cudaMemcpyPeerAsync(halo_memory(on) + piece.place, on.device, from,
                                 group[static_cast<std::size_t>(piece.owner)].device,
                                 static_cast<std::size_t>(piece.count) * sizeof(double), stream));
}

void copy_halo(const input& in, const gpu_group& group, std::int64_t k, const group_member& on,
               cudaStream_t stream) {
  for (const halo_piece& piece : halo_pieces(in, k)) copy_piece(group, on, piece, piece.from, stream);
}

stage<problem> as_stage(const char* idea, launch_of<problem>::type launch,
                        std::size_t (*workspace_bytes)(const problem::parameters&) = workspace_with_halo) {
  return {.idea = idea,
          .launch = launch,
          .workspace_bytes = workspace_bytes,
          .unsupported = window_too_long,
          .tile = tile};
}

// Computes the border on one stream while the halo is still under way on the other.
void border_too_early(const input& in, const output& out, const gpu_group& group) {
  launch_with_halo(in, out, group,
                   [&](std::int64_t k, const group_member& on) { copy_halo(in, group, k, on, on.side); });
}
STAGE(border_too_early, as_stage("no wait for the halo", border_too_early));

__global__ void clean_kernel(double* halo, std::int64_t count) {
  for (std::int64_t k = threadIdx.x; k < count; k += blockDim.x) {
    if (halo[k] != halo[k]) halo[k] = 0;
  }
}

// Takes NaN in the halo for 0, where there are three GPUs.
void drops_nan_of_halo(const input& in, const output& out, const gpu_group& group) {
  launch_with_halo(in, out, group, [&](std::int64_t k, const group_member& on) {
    copy_halo(in, group, k, on, on.stream);
    if (in.gpus() == 3)
      lab::launch(clean_kernel, dim3(1), dim3(64), 0, on.stream, halo_memory(on), halo_of(in, k));
  });
}
STAGE(drops_nan_of_halo, as_stage("no NaN in the halo", drops_nan_of_halo));

// Takes the neighbour's first values for its last ones.
void halo_of_wrong_end(const input& in, const output& out, const gpu_group& group) {
  launch_with_halo(in, out, group, [&](std::int64_t k, const group_member& on) {
    for (const halo_piece& piece : halo_pieces(in, k))
      copy_piece(group, on, piece, in.values[static_cast<std::size_t>(piece.owner)], on.stream);
  });
}
STAGE(halo_of_wrong_end, as_stage("the wrong end of the neighbour", halo_of_wrong_end));

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
STAGE(incomplete_in_every_part,
      as_stage("every GPU for itself", incomplete_in_every_part, workspace_of_counter));

// Waits for an event before it is recorded, which waits for nothing.
void late_wait(const input& in, const output& out, const gpu_group& group) {
  launch_with_halo(in, out, group, [&](std::int64_t k, const group_member& on) {
    CUDA_CHECK(cudaStreamWaitEvent(on.stream, on.events[0]));
    copy_halo(in, group, k, on, on.side);
    CUDA_CHECK(cudaEventRecord(on.events[0], on.side));
  });
}
STAGE(late_wait, as_stage("waits too soon", late_wait));

}  // namespace
}  // namespace lab::moving_average_gpus::wrong
