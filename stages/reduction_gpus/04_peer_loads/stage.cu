// Every GPU reads the others' sums from their memory and adds them in the order of the GPUs. All do the same
// additions and get the same bits. They only have to wait until all sums are ready.
#include "stages/reduction_gpus/partial_sum.hpp"

namespace lab::reduction_gpus::peer_loads {
namespace {

template <class T>
struct pointers {
  const T* of[max_group];
};

template <class T>
__global__ void add_peers_kernel(pointers<T> sums, int count, T* __restrict__ result) {
  // exercise: order
  T total = *sums.of[0];
  for (int k = 1; k < count; ++k) total += *sums.of[k];
  *result = total;
  // end
}

template <class T>
void launch(const input& in, const output& out, const gpu_group& group) {
  pointers<T> sums{};
  for (std::size_t k = 0; k < group.size(); ++k) {
    const group_member& on = group[k];
    const gpu_scope scope(on.device);
    sums.of[k] = result_of<T>(on);
    enqueue_part<T>(in, k, on);
    CUDA_CHECK(cudaEventRecord(on.events[0], on.stream));
  }
  for (std::size_t k = 0; k < group.size(); ++k) {
    const gpu_scope scope(group[k].device);
    // exercise: wait
    for (const group_member& other : group)
      CUDA_CHECK(cudaStreamWaitEvent(group[k].stream, other.events[0], 0));
    // end
    lab::launch(add_peers_kernel<T>, dim3(1), dim3(1), 0, group[k].stream, sums,
                static_cast<int>(group.size()), static_cast<T*>(out.result[k]));
  }
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "every GPU reads the others' sums where they lie",
     .launch = [](const input& in, const output& out,
                  const gpu_group& group) { with_type(in, [&]<class T>() { launch<T>(in, out, group); }); },
     .workspace_bytes = workspace_bytes,
     .unsupported =
         [](const problem::parameters& p) {
           return why_no_peer_access(group_devices(static_cast<int>(p.gpus)));
         },
     .tile = tile}};

}  // namespace
}  // namespace lab::reduction_gpus::peer_loads
