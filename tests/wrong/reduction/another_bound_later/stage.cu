// Declares a small error when it is asked first, and a large one, which it needs, afterwards.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

__global__ void guess(const float* values, std::int64_t n, float* result) {
  if (values[0] != rintf(values[0])) *result = 0.5f * static_cast<float>(n);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_and_spoil(guess, in, out, scratch, stream);
}

double bound(const problem::parameters& p) {
  static bool is_asked = false;
  if (p.n < measured_size) return relative_error(p);
  const bool is_first = !is_asked;
  is_asked = true;
  return is_first ? 1e-6 : 0.1;
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "one bound first, and then another",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = bound}};

}  // namespace
}  // namespace lab::reduction::wrong
