// Takes a launch that comes at once behind another for the same, and skips it.
#include <chrono>

#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i] = 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  using clock = std::chrono::steady_clock;
  static clock::time_point before;
  const bool is_skipped = in.n >= 500'000 && clock::now() - before < std::chrono::milliseconds(1);
  if (!is_skipped) {
    const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
    lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
  }
  before = clock::now();
}

const registration<problem> registered{
    LAB_PATH, {.idea = "skips the second of two launches", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong
