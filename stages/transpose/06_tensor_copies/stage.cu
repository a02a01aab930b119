// The tensor memory accelerator (TMA) moves the tiles: one thread asks for boxes of the input, and later for
// boxes of the output, and the unit computes addresses, leaves out what is beyond the edges, and writes
// shared memory in a swizzle of 128 bytes. The threads transpose blocks of 4 x 4 values in place, through
// registers.
#include "common/tensor_copy.hpp"
#include "stages/transpose/tiles.hpp"

namespace lab::transpose::tensor_copies {
namespace {

constexpr int side = 64;
constexpr int box_values = 32;  // 128 bytes, the width of the swizzle
constexpr int boxes = side / box_values;
constexpr int box_bytes = box_values * side * static_cast<int>(sizeof(float));  // 32 wide, 64 high: 8 KiB
constexpr int box_vectors = box_bytes / static_cast<int>(sizeof(float4));
constexpr int block_threads = side * side / 16;  // a block of 4 x 4 values for each thread
constexpr int multiprocessor_blocks = 8;         // 2048 threads, of at most 32 registers
constexpr int line_vectors = 8;                  // of 16 bytes, in a line of 128

// Where a box has vector `v` of its line.
__device__ int place(int line, int v) {
  return line * line_vectors + (v ^ line % line_vectors);
}

__global__ void __launch_bounds__(block_threads, multiprocessor_blocks)
    transpose_kernel(const __grid_constant__ lab::tensor_map from, const __grid_constant__ lab::tensor_map to,
                     std::int64_t columns) {
  auto* const tile = tensor_shared<float4>();  // 16 KiB: two boxes of the input, then two of the output
  __shared__ mbarrier landed;
  const corner first = corner_of_tile(columns, side);
  const auto row = static_cast<int>(first.row), column = static_cast<int>(first.column);
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    landed.initialise(1);
    fence_mbarrier_init();
    landed.arrive_expect_tx(boxes * box_bytes);
    for (int k = 0; k < boxes; ++k)
      tensor_copy_in(tile + k * box_vectors, from, column + k * box_values, row, landed);
  }
  __syncthreads();
  landed.wait(0);

  // 64 threads for each 32 x 32 values: 8 lanes side by side have a diagonal of its 8 x 8 blocks, so that
  // their vectors are different ones modulo 8 both in the lines that they read and in those that they write.
  const int square = thread / 64;
  const int across = square % boxes, down = square / boxes;  // which square of the input's tile
  const int g = thread % 8, q = g ^ thread / 8 % 8;          // which block: columns 4 g.., rows 4 q..
  float4 a[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) a[k] = tile[across * box_vectors + place(box_values * down + 4 * q + k, g)];
  __syncthreads();
  float4* const box = tile + down * box_vectors;
  const int line = box_values * across + 4 * g;
  box[place(line, q)] = make_float4(a[0].x, a[1].x, a[2].x, a[3].x);
  box[place(line + 1, q)] = make_float4(a[0].y, a[1].y, a[2].y, a[3].y);
  box[place(line + 2, q)] = make_float4(a[0].z, a[1].z, a[2].z, a[3].z);
  box[place(line + 3, q)] = make_float4(a[0].w, a[1].w, a[2].w, a[3].w);
  fence_proxy_async();
  __syncthreads();
  if (thread == 0) {
    for (int k = 0; k < boxes; ++k) tensor_copy_out(to, row + k * box_values, column, tile + k * box_vectors);
    commit_group();
    wait_group_read<0>();
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.rows == 0 || in.columns == 0) return;  // no tensor map is so small
  const tensor_map from = make_tensor_map(in.values, {in.columns, in.rows}, {1, in.columns},
                                          {box_values, side}, swizzle::bytes_128);
  const tensor_map to = make_tensor_map(out.transposed, {in.rows, in.columns}, {1, in.rows},
                                        {box_values, side}, swizzle::bytes_128);
  lab::launch(transpose_kernel, grid_of_tiles(in, side), dim3(block_threads), boxes * box_bytes, stream, from,
              to, in.columns);
}

// Rows begin at multiples of 16 bytes, coordinates have 32 bits.
std::string unsupported(const problem::parameters& p) {
  if (p.rows % 4 != 0 || p.columns % 4 != 0) return "rows and columns must be multiples of 4 (16 bytes)";
  constexpr std::int64_t most = (std::int64_t{1} << 31) - side;
  return p.rows > most || p.columns > most ? "more than 2^31 rows or columns" : "";
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "tensor copies in and out, swizzled",
                                        .launch = launch,
                                        .unsupported = unsupported,
                                        .tile = side * side,
                                        .owner_of = block_of_tile<side>,
                                        .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::transpose::tensor_copies
