// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "stages/reduction_gpus/partial_sum.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::reduction_gpus::wrong {
namespace {

// Takes the third GPU's sum for nothing where it is NaN.
namespace drops_nan_of_third {
template <class T>
__global__ void clean_kernel(T* sum) {
  if (*sum != *sum) *sum = 0;
}

template <class T>
void launch(const input& in, const output& out, const gpu_group& group) {
  const group_member& root = group.front();
  T* const gathered = result_of<T>(root, 1);
  for (std::size_t k = 0; k < group.size(); ++k) {
    const group_member& on = group[k];
    const gpu_scope scope(on.device);
    enqueue_part<T>(in, k, on);
    if (k == 2) lab::launch(clean_kernel<T>, dim3(1), dim3(1), 0, on.stream, result_of<T>(on));
    CUDA_CHECK(
        cudaMemcpyPeerAsync(gathered + k, root.device, result_of<T>(on), on.device, sizeof(T), on.stream));
    CUDA_CHECK(cudaEventRecord(on.events[0], on.stream));
    CUDA_CHECK(cudaStreamWaitEvent(root.stream, on.events[0], 0));
  }
  const gpu_scope scope(root.device);
  lab::launch(add_kernel<T>, dim3(1), dim3(1), 0, root.stream, gathered, static_cast<int>(group.size()),
              static_cast<T*>(out.result[0]));
  for (std::size_t k = 1; k < group.size(); ++k) {
    CUDA_CHECK(cudaMemcpyPeerAsync(out.result[k], group[k].device, out.result[0], root.device, sizeof(T),
                                   root.stream));
  }
}

STAGE(drops_nan_of_third,
      {.idea = "no NaN of the third GPU",
       .launch = [](const input& in, const output& out,
                    const gpu_group& group) { with_type(in, [&]<class T>() { launch<T>(in, out, group); }); },
       .workspace_bytes = workspace_bytes,
       .tile = tile});
}  // namespace drops_nan_of_third

// Every GPU begins with its own sum: other orders of the same additions, and other bits.
namespace own_first {
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

STAGE(own_first,
      {.idea = "its own sum first",
       .launch = [](const input& in, const output& out,
                    const gpu_group& group) { with_type(in, [&]<class T>() { launch<T>(in, out, group); }); },
       .workspace_bytes = workspace_bytes,
       .tile = tile});
}  // namespace own_first

// Copies the sums to the first GPU, which does not wait for the others.
namespace reads_too_early {
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
  }
  const gpu_scope scope(root.device);
  lab::launch(add_kernel<T>, dim3(1), dim3(1), 0, root.stream, gathered, static_cast<int>(group.size()),
              static_cast<T*>(out.result[0]));
  for (std::size_t k = 1; k < group.size(); ++k) {
    CUDA_CHECK(cudaMemcpyPeerAsync(out.result[k], group[k].device, out.result[0], root.device, sizeof(T),
                                   root.stream));
  }
}

STAGE(reads_too_early,
      {.idea = "no wait for the others' sums",
       .launch = [](const input& in, const output& out,
                    const gpu_group& group) { with_type(in, [&]<class T>() { launch<T>(in, out, group); }); },
       .workspace_bytes = workspace_bytes,
       .tile = tile});
}  // namespace reads_too_early

}  // namespace
}  // namespace lab::reduction_gpus::wrong
