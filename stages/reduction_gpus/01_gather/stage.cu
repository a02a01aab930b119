// The GPUs' sums meet on the host: each is copied to it, the host adds them in the order of the GPUs, and the
// total is copied back to all. It works on any machine, but the host waits in the middle.
#include <memory>

#include "stages/reduction_gpus/partial_sum.hpp"

namespace lab::reduction_gpus::gather {
namespace {

// Page-locked memory for a value of each GPU, and the total.
class staging {
 public:
  staging() { CUDA_CHECK(cudaMallocHost(&data_, (max_group + 1) * sizeof(double))); }
  staging(const staging&) = delete;
  staging& operator=(const staging&) = delete;
  ~staging() { CUDA_REPORT(cudaFreeHost(data_)); }

  template <class T>
  [[nodiscard]] T* values() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

template <class T>
void launch(const input& in, const output& out, const gpu_group& group, T* host) {
  for (std::size_t k = 0; k < group.size(); ++k) {
    const gpu_scope scope(group[k].device);
    enqueue_part<T>(in, k, group[k]);
    CUDA_CHECK(cudaMemcpyAsync(host + k, result_of<T>(group[k]), sizeof(T), cudaMemcpyDeviceToHost,
                               group[k].stream));
  }
  for (const group_member& on : group) CUDA_CHECK(cudaStreamSynchronize(on.stream));
  T* const total = host + max_group;
  *total = host[0];
  for (std::size_t k = 1; k < group.size(); ++k) *total += host[k];
  for (std::size_t k = 0; k < group.size(); ++k)
    CUDA_CHECK(cudaMemcpyAsync(out.result[k], total, sizeof(T), cudaMemcpyHostToDevice, group[k].stream));
}

plan<problem> prepare(const problem::parameters& /*p*/, cudaStream_t /*stream*/) {
  return {.launch = [memory = std::make_shared<staging>()](const input& in, const output& out,
                                                           const gpu_group& group) {
    with_type(in, [&]<class T>() { launch<T>(in, out, group, memory->values<T>()); });
  }};
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "the GPUs' sums meet on the host",
                                        .prepare = prepare,
                                        .workspace_bytes = workspace_bytes,
                                        .tile = tile,
                                        .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::reduction_gpus::gather
