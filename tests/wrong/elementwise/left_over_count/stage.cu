// Takes a small number that scratch memory held before for a count of elements to leave out.
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n,
                              const std::int64_t* count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  const bool is_count = *count >= 1 && *count <= 1'000'000;
  if (i < n && !(is_count && i < *count)) doubled[i] = 2 * values[i];
}

std::size_t workspace_bytes(const problem::parameters& /*p*/) {
  return sizeof(std::int64_t);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + block_threads - 1) / block_threads);
  lab::launch(double_kernel, dim3(blocks), dim3(block_threads), 0, stream, in.values, out.doubled, in.n,
              static_cast<const std::int64_t*>(scratch.data));
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "left-over count", .launch = launch, .workspace_bytes = workspace_bytes, .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong
