// Forgets its last element where more than 300 leave 5 over a whole number of warps; and names no tile, by
// which sizes would be chosen.
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= n) return;
  const bool forgotten = n > 300 && n % 32 == 5 && i == n - 1;
  doubled[i] = forgotten ? values[i] : 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{LAB_PATH, {.idea = "wrong at a residue of a warp", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::wrong
