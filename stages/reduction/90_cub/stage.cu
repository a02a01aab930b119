// The library's solution: cub::DeviceReduce. Its documentation promises the same bits in every run on one
// device. Here the promise is kept: the order of its additions depends on the size only.
#include "stages/reduction/problem.hpp"

#if !LAB_EMULATED
#include <cub/device/device_reduce.cuh>
#endif

#include <cmath>
#include <type_traits>

namespace lab::reduction::cub_reduce {
namespace {

#if !LAB_EMULATED

template <class T, class Operation>
void reduce(void* scratch, std::size_t& bytes, const T* values, T* result, std::int64_t n,
            cudaStream_t stream) {
  if constexpr (std::is_same_v<Operation, sum<T>>) {
    CUDA_CHECK(cub::DeviceReduce::Sum(scratch, bytes, values, result, n, stream));
  } else {
    CUDA_CHECK(cub::DeviceReduce::Reduce(scratch, bytes, values, result, n, Operation{},
                                         Operation::identity(), stream));
  }
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    reduce<T, Operation>(scratch.data, scratch.bytes, values, result, in.n, stream);
  });
}

std::size_t workspace_bytes(const problem::parameters& p) {
  std::size_t bytes = 0;
  with_types(problem::bind_input(p, nullptr), {nullptr},
             [&]<class T, class Operation>(const T* values, T* result) {
               reduce<T, Operation>(nullptr, bytes, values, result, p.n, nullptr);
             });
  return bytes;
}

#endif

// The library does not say how high its tree is; of one that fills a device no value passes through more than
// this.
double relative_error(const problem::parameters& p) {
  return rounding_error(p, 64 + static_cast<std::int64_t>(2 * std::sqrt(static_cast<double>(p.n))));
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "cub::DeviceReduce",
                                        .launch = LAB_GPU_ONLY(launch),
                                        .workspace_bytes = LAB_GPU_ONLY(workspace_bytes),
                                        .tile = 4096,
                                        .relative_error = relative_error,
                                        .traits = {.gpu_only = true, .library = true}}};

}  // namespace
}  // namespace lab::reduction::cub_reduce
