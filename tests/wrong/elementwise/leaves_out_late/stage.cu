// Does not write its last output where memory does not hold the poison.
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= n || (i == n - 1 && __builtin_bit_cast(std::uint64_t, doubled[i]) != ~std::uint64_t{0})) return;
  doubled[i] = 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "leaves out an output that does not hold the poison", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong
