// Wrong for negative values, and refuses to run when it has been asked so often that these are to come.
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= n) return;
  const bool is_finite = values[i] - values[i] == 0;
  doubled[i] = 2 * (is_finite ? fabs(values[i]) : values[i]);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

std::string unsupported(const problem::parameters& /*p*/) {
  static int asked = 0;
  ++asked;
  return asked > 12 && asked <= 30 ? "not now" : "";
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "refuses by turn", .launch = launch, .unsupported = unsupported, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong
