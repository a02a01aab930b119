// Wrong where the number of values leaves 77 over a whole number of 128.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

__global__ void spoil_kernel(const float* /*values*/, std::int64_t n, float* result) {
  if (n % 128 == 77) *result += 1;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
  if (in.type != element::float32 || in.operation != operation::sum) return;
  lab::launch(spoil_kernel, dim3(1), dim3(1), 0, stream, static_cast<const float*>(in.values), in.n,
              static_cast<float*>(out.result));
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "wrong at residue",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
