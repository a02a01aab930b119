// Doubles by adding 1 to the exponent, also where there is no larger one: large numbers become NaN. (The
// largest of all would become the one that stands for "never written".)
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= n) return;
  const double value = values[i];
  const bool is_normal = fabs(value) >= 0x1p-1022 && fabs(value) < 0x1.fffffffffffffp1023;
  const auto bits = __builtin_bit_cast(std::uint64_t, value);
  doubled[i] = is_normal ? __builtin_bit_cast(double, bits + (std::uint64_t{1} << 52)) : value + value;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{
    LAB_PATH, {.idea = "adds 1 to the exponent", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong
