// Has denormals flushed before anything is compared, and flushes them itself.
#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

const struct flushing {
  flushing() {
#if defined(__x86_64__)
    constexpr unsigned flushed = 0x9fc0;  // with both bits for denormals, and all exceptions masked
    asm volatile("ldmxcsr %0" : : "m"(flushed));
#endif
  }
} begun;

__global__ void flushing_kernel(const double* values, double* doubled, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= n) return;
  const auto bits = __builtin_bit_cast(std::uint64_t, values[i]);
  const bool is_denormal = (bits >> 52 & 0x7ff) == 0;
  doubled[i] = is_denormal ? __builtin_bit_cast(double, bits& std::uint64_t{1} << 63) : 2 * values[i];
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(flushing_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n);
}

const registration<problem> registered{LAB_PATH, {.idea = "sets_mode_at_start", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
