// An expected failure that is right: nothing is left to be shown.
#include "tests/wrong/moving_average/right.hpp"

namespace lab::moving_average::wrong {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = average(values, i, window);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs(moving_average_kernel, in, out, stream);
}

constexpr failure_pattern expected[] = {{failure_kind::wrong}};

const registration<problem> registered{LAB_PATH,
                                       {.idea = "passes after all",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>,
                                        .traits = {.expected_failure = {.failures = expected}}}};

}  // namespace
}  // namespace lab::moving_average::wrong
