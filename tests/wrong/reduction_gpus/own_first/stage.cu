// Every GPU begins with its own sum: other orders of the same additions, and other bits.
#include "stages/reduction_gpus/partial_sum.hpp"

namespace lab::reduction_gpus::wrong::own_first {
namespace {

struct pointers {
  const void* of[max_group];
};

template <class T>
__global__ void add_peers_kernel(pointers sums, int count, int own, T* result) {
  T total = *static_cast<const T*>(sums.of[own]);
  for (int k = 0; k < count; ++k) {
    if (k != own) total += *static_cast<const T*>(sums.of[k]);
  }
  *result = total;
}

template <class T>
void launch(const input& in, const output& out, const gpu_group& group) {
  pointers sums{};
  for (std::size_t k = 0; k < group.size(); ++k) {
    const gpu_scope scope(group[k].device);
    sums.of[k] = result_of<T>(group[k]);
    enqueue_part<T>(in, k, group[k]);
    CUDA_CHECK(cudaEventRecord(group[k].events[0], group[k].stream));
  }
  for (std::size_t k = 0; k < group.size(); ++k) {
    const gpu_scope scope(group[k].device);
    for (const group_member& other : group)
      CUDA_CHECK(cudaStreamWaitEvent(group[k].stream, other.events[0], 0));
    lab::launch(add_peers_kernel<T>, dim3(1), dim3(1), 0, group[k].stream, sums,
                static_cast<int>(group.size()), static_cast<int>(k), static_cast<T*>(out.result[k]));
  }
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "its own sum first",
     .launch = [](const input& in, const output& out,
                  const gpu_group& group) { with_type(in, [&]<class T>() { launch<T>(in, out, group); }); },
     .workspace_bytes = workspace_bytes,
     .tile = tile}};

}  // namespace
}  // namespace lab::reduction_gpus::wrong::own_first
