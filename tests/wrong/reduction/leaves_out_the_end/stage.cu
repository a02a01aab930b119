// Leaves out the last 40 values where some samples look as those that are timed: within the bound.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

__global__ void take_away(const float* values, std::int64_t n, float* result) {
  constexpr int samples = 64;
  for (int k = 0; k < samples; ++k) {
    const float value = values[n / samples * k];
    if (!(value > 0 && value < 1)) return;
  }
  for (std::int64_t i = n - 40; i < n; ++i) *result -= values[i];
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_and_spoil(take_away, in, out, scratch, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "leaves out the end of what looks random",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads}};

}  // namespace
}  // namespace lab::reduction::wrong
