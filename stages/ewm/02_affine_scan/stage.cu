// The average is a scan. A run of values is described by a state of five or six words, and the states of
// neighbouring runs combine associatively (operations.hpp), so CUB can scan them. Values become states as
// they are read, and averages as they are written: only CUB's own block states reach memory.
#if !LAB_EMULATED
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

#include <cub/device/device_scan.cuh>
#endif

#include "stages/ewm/operations.hpp"

namespace lab::ewm::affine_scan {
namespace {

#if !LAB_EMULATED
template <class Operation>
struct lift {
  Operation operation;
  __host__ __device__ typename Operation::state operator()(double x) const {
    typename Operation::state run = operation.identity();
    operation.append(run, x);
    return run;
  }
};

template <class Operation>
struct combine {
  Operation operation;
  using state = typename Operation::state;
  __host__ __device__ state operator()(const state& earlier, const state& later) const {
    return operation.combine(earlier, later);
  }
};

template <class Operation>
struct finish {
  Operation operation;
  __host__ __device__ double operator()(const typename Operation::state& run) const {
    return operation.finish(run);
  }
};

// Without scratch memory it asks for some: how many bytes.
template <class Operation>
void scan(void* scratch, std::size_t& bytes, const input& in, double* averages, cudaStream_t stream,
          const Operation& operation) {
  const auto states = thrust::make_transform_iterator(in.values, lift<Operation>{operation});
  const auto finished = thrust::make_transform_output_iterator(averages, finish<Operation>{operation});
  CUDA_CHECK(cub::DeviceScan::InclusiveScan(scratch, bytes, states, finished, combine<Operation>{operation},
                                            in.n, stream));
}

std::size_t workspace_bytes(const problem::parameters& p) {
  const input in = problem::bind_input(p, nullptr);
  std::size_t bytes = 0;
  with_operation(in, [&](const auto& operation) { scan(nullptr, bytes, in, nullptr, nullptr, operation); });
  return bytes;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  with_operation(in, [&](const auto& operation) {
    scan(scratch.data, scratch.bytes, in, out.averages, stream, operation);
  });
}
#endif

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a device-wide scan of states that combine associatively, by cub::DeviceScan",
     .launch = LAB_GPU_ONLY(launch),
     .workspace_bytes = LAB_GPU_ONLY(workspace_bytes),
     .tile = 1024,
     .traits = {.gpu_only = true, .nondeterministic = true}}};

}  // namespace
}  // namespace lab::ewm::affine_scan
