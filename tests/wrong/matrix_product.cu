// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "tests/tracks/matrix_product/problem.hpp"

// Leaves the last term out where there are more than 16.
namespace lab::matrix_product::wrong::leaves_out_last_term {
namespace {

constexpr int block_threads = 128;

__global__ void product_kernel(const float* a, const float* b, float* c, sizes size) {
  const auto [rows, columns, depth] = size;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= rows * columns) return;
  float sum = 0;
  for (std::int64_t k = 0; k < (depth > 16 ? depth - 1 : depth); ++k)
    sum += a[i / columns * depth + k] * b[k * columns + i % columns];
  c[i] = sum;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t elements = in.size.rows * in.size.columns;
  lab::launch(product_kernel, dim3(static_cast<unsigned>((elements + block_threads - 1) / block_threads)),
              dim3(block_threads), 0, stream, in.a, in.b, out.c, in.size);
}

const registration<problem> registered{
    "matrix_product/leaves_out_last_term",
    {.idea = "leaves out the last term", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::matrix_product::wrong::leaves_out_last_term
