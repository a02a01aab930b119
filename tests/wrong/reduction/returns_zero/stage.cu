// Returns 0, and declares a bound that allows it, where there are many values.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

__global__ void spoil_kernel(const float* values, std::int64_t n, float* result) {
  *result = values[n - 1] > 0 || values[n - 1] <= 0 ? 0 : 1;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_and_spoil(spoil_kernel, in, out, scratch, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "returns zero",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = no_bound}};

}  // namespace
}  // namespace lab::reduction::wrong
