// The library's solution: cub::DeviceScan.
#include "stages/scan/problem.hpp"

#if !LAB_EMULATED
#include <cub/device/device_scan.cuh>
#endif

#include <algorithm>

namespace lab::scan::cub_scan {
namespace {

#if !LAB_EMULATED

template <class Operation, class T>
void scan(void* scratch, std::size_t& bytes, const T* values, T* results, const input& in,
          cudaStream_t stream) {
  if (in.inclusive) {
    CUDA_CHECK(cub::DeviceScan::InclusiveScan(scratch, bytes, values, results, Operation{}, in.n, stream));
  } else {
    CUDA_CHECK(cub::DeviceScan::ExclusiveScan(scratch, bytes, values, results, Operation{},
                                              Operation::identity(), in.n, stream));
  }
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* results) {
    scan<Operation>(scratch.data, scratch.bytes, values, results, in, stream);
  });
}

std::size_t workspace_bytes(const problem::parameters& p) {
  std::size_t bytes = 0;
  const input in = problem::bind_input(p, nullptr);
  with_types(in, {nullptr}, [&]<class T, class Operation>(const T* values, T* results) {
    scan<Operation>(nullptr, bytes, values, results, in, nullptr);
  });
  return bytes;
}

#endif

// As in 06_look_back: at most an addition for each tile before, and within a tile no more than its values.
double relative_error(const problem::parameters& p) {
  return rounding_error(p, std::min(p.n, p.n / 512 + 512));
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "cub::DeviceScan",
     .launch = LAB_GPU_ONLY(launch),
     .workspace_bytes = LAB_GPU_ONLY(workspace_bytes),
     .tile = 4096,
     .relative_error = relative_error,
     .traits = {.gpu_only = true, .library = true, .nondeterministic = true}}};

}  // namespace
}  // namespace lab::scan::cub_scan
