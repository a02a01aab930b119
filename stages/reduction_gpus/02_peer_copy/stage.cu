// The sums meet on the first GPU: each is copied there from GPU to GPU, a kernel adds them in the order of
// the GPUs, and the total is copied to all. Events order the streams; the host never waits.
#include "stages/reduction_gpus/partial_sum.hpp"

namespace lab::reduction_gpus::peer_copy {
namespace {

template <class T>
void launch(const input& in, const output& out, const gpu_group& group) {
  const group_member& root = group.front();
  T* const gathered = result_of<T>(root, 1);
  for (std::size_t k = 0; k < group.size(); ++k) {
    const group_member& on = group[k];
    const gpu_scope scope(on.device);
    enqueue_part<T>(in, k, on);
    CUDA_CHECK(
        cudaMemcpyPeerAsync(gathered + k, root.device, result_of<T>(on), on.device, sizeof(T), on.stream));
    if (k == 0) continue;
    // exercise: wait
    CUDA_CHECK(cudaEventRecord(on.events[0], on.stream));
    CUDA_CHECK(cudaStreamWaitEvent(root.stream, on.events[0], 0));
    // end
  }
  const gpu_scope scope(root.device);
  lab::launch(add_kernel<T>, dim3(1), dim3(1), 0, root.stream, gathered, static_cast<int>(group.size()),
              static_cast<T*>(out.result[0]));
  for (std::size_t k = 1; k < group.size(); ++k) {
    CUDA_CHECK(cudaMemcpyPeerAsync(out.result[k], group[k].device, out.result[0], root.device, sizeof(T),
                                   root.stream));
  }
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "the GPUs' sums meet on the first GPU, by copies between them",
     .launch = [](const input& in, const output& out,
                  const gpu_group& group) { with_type(in, [&]<class T>() { launch<T>(in, out, group); }); },
     .workspace_bytes = workspace_bytes,
     .tile = tile}};

}  // namespace
}  // namespace lab::reduction_gpus::peer_copy
