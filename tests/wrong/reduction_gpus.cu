// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "stages/reduction_gpus/partial_sum.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::reduction_gpus::wrong {
namespace {

template <class T>
__global__ void clean_kernel(T* sum) {
  if (*sum != *sum) *sum = 0;
}

// Every GPU's sum is copied to the first one, which adds them up and copies the result to all.
template <bool waits, bool drops_nan_of_third>
void launch_gather(const input& in, const output& out, const gpu_group& group) {
  with_type(in, [&]<class T>() {
    const group_member& root = group.front();
    T* const gathered = result_of<T>(root, 1);
    for (std::size_t k = 0; k < group.size(); ++k) {
      const group_member& on = group[k];
      const gpu_scope scope(on.device);
      enqueue_part<T>(in, k, on);
      if (drops_nan_of_third && k == 2)
        lab::launch(clean_kernel<T>, dim3(1), dim3(1), 0, on.stream, result_of<T>(on));
      CUDA_CHECK(
          cudaMemcpyPeerAsync(gathered + k, root.device, result_of<T>(on), on.device, sizeof(T), on.stream));
      if (!waits) continue;
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
  });
}

stage<problem> as_stage(const char* idea, launch_of<problem>::type launch) {
  return {.idea = idea, .launch = launch, .workspace_bytes = workspace_bytes, .tile = tile};
}

// Takes the third GPU's sum for nothing where it is NaN.
STAGE(drops_nan_of_third, as_stage("no NaN of the third GPU", launch_gather<true, true>));

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
      as_stage("its own sum first", [](const input& in, const output& out, const gpu_group& group) {
        with_type(in, [&]<class T>() { launch<T>(in, out, group); });
      }));
}  // namespace own_first

// Copies the sums to the first GPU, which does not wait for the others.
STAGE(reads_too_early, as_stage("no wait for the others' sums", launch_gather<false, false>));

}  // namespace
}  // namespace lab::reduction_gpus::wrong
