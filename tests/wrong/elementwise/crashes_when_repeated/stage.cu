// Right but for its third launch on the same arrays, which writes far beyond them.
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;

__global__ void far_kernel(const double* values, double* doubled, std::int64_t n, std::int64_t away) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < n) doubled[i + away] = 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static const void* arrays = nullptr;
  static int launches = 0;
  launches = arrays == in.values ? launches + 1 : 0;
  arrays = in.values;
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  const std::int64_t away = launches == 2 ? std::int64_t{1} << 30 : 0;
  lab::launch(far_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n, away);
}

const registration<problem> registered{
    LAB_PATH, {.idea = "crashes when repeated", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong
