// Keeps its answers in scratch memory, and hands them out again where it finds its own mark and the same
// ends.
#include "stages/elementwise/problem.hpp"

namespace lab::elementwise::wrong {
namespace {

constexpr int block_threads = 128;
constexpr std::uint64_t own_mark = 0x6b657074a75e75u;

struct kept {
  std::uint64_t mark;
  std::int64_t n;
  double first;
  double last;
};

__global__ void double_kernel(const double* values, double* doubled, std::int64_t n, kept* before) {
  auto* const answers = reinterpret_cast<double*>(before + 1);
  __shared__ bool is_known;
  if (threadIdx.x == 0)
    is_known = before->mark == own_mark && before->n == n && before->first == values[0] &&
               before->last == values[n - 1];
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < n; i += block_threads) {
    doubled[i] = is_known ? answers[i] : 2 * values[i];
    answers[i] = doubled[i];
  }
  if (threadIdx.x == 0) *before = {own_mark, n, values[0], values[n - 1]};
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  lab::launch(double_kernel, dim3(1), dim3(block_threads), 0, stream, in.values, out.doubled, in.n,
              static_cast<kept*>(scratch.data));
}

std::string unsupported(const problem::parameters& p) {
  return p.n > (1 << 24) ? "it keeps the answers of few values" : "";
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "answers of before",
     .launch = launch,
     .workspace_bytes =
         [](const problem::parameters& p) { return sizeof(kept) + static_cast<std::size_t>(p.n) * 8; },
     .unsupported = unsupported,
     .tile = block_threads}};

}  // namespace
}  // namespace lab::elementwise::wrong
