// The halo goes through the host: a copy from the left neighbour to the host, a wait, and a copy to the GPU.
// It works on any machine. It costs two transfers over PCIe, and the host waits.
#include <memory>

#include "stages/moving_average_gpus/tiles.hpp"

namespace lab::moving_average_gpus::host_staged {
namespace {

// Page-locked memory for the halos of all GPUs.
class staging {
 public:
  explicit staging(std::size_t bytes) { CUDA_CHECK(cudaMallocHost(&data_, bytes)); }
  staging(const staging&) = delete;
  staging& operator=(const staging&) = delete;
  ~staging() { CUDA_REPORT(cudaFreeHost(data_)); }

  [[nodiscard]] double* data() const { return static_cast<double*>(data_); }

 private:
  void* data_ = nullptr;
};

void launch(const input& in, const output& out, const gpu_group& group, double* staged, std::int64_t stride) {
  for (std::int64_t k = 1; k < in.gpus(); ++k) {
    for (const halo_piece& piece : halo_pieces(in, k)) {
      CUDA_CHECK(cudaMemcpyAsync(staged + k * stride + piece.place, piece.from,
                                 static_cast<std::size_t>(piece.count) * sizeof(double),
                                 cudaMemcpyDeviceToHost,
                                 group[static_cast<std::size_t>(piece.owner)].stream));
    }
  }
  for (const group_member& on : group) CUDA_CHECK(cudaStreamSynchronize(on.stream));
  for (std::int64_t k = 0; k < in.gpus(); ++k) {
    const group_member& on = group[static_cast<std::size_t>(k)];
    const gpu_scope scope(on.device);
    if (const std::int64_t count = halo_of(in, k); count > 0) {
      CUDA_CHECK(cudaMemcpyAsync(halo_memory(on), staged + k * stride,
                                 static_cast<std::size_t>(count) * sizeof(double), cudaMemcpyHostToDevice,
                                 on.stream));
    }
    launch_part(in, out, k, with_halo(in, k, on), on);
  }
}

plan<problem> prepare(const problem::parameters& p, cudaStream_t /*stream*/) {
  const auto stride = static_cast<std::int64_t>(halo_bytes(p) / sizeof(double));
  const auto memory =
      std::make_shared<staging>(std::max<std::size_t>(1, halo_bytes(p) * static_cast<std::size_t>(p.gpus)));
  return {.launch = [memory, stride](const input& in, const output& out, const gpu_group& group) {
    launch(in, out, group, memory->data(), stride);
  }};
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "the halo through the host's memory",
                                        .prepare = prepare,
                                        .workspace_bytes = workspace_with_halo,
                                        .unsupported = window_too_long,
                                        .tile = tile,
                                        .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::moving_average_gpus::host_staged
