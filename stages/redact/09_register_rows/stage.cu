// The single pass, with rows in registers. A thread reads the first twelve characters of a name from shared
// memory once, as three words. It finds the space in these words and writes the first name from them. So
// there is no bit for each space, the output in shared memory need not be zeroed first, and no word of it is
// assembled with atomics.
#include "common/look_back.hpp"
#include "common/nvtx.hpp"
#include "stages/redact/block_scan.hpp"
#include "stages/redact/bounded_output.hpp"
#include "stages/redact/columns.hpp"
#include "stages/redact/copy_out.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/register_rows.hpp"
#include "stages/redact/staged_characters.hpp"
#include "stages/redact/tile_size.hpp"
#include "stages/redact/wide_tile.hpp"

namespace lab::redact::register_rows {
namespace {

constexpr int threads = 160;
constexpr int rows_of_thread = 4;
constexpr int blocks_per_multiprocessor = 6;
constexpr int max_rows = threads * rows_of_thread;
constexpr int max_name_bytes = 17 * max_rows;
constexpr int max_visibility_bytes = 8 * max_rows;
// No tile that is staged has more, so that nothing need be tested once its rows are parsed.
constexpr int max_output_of_tile = max_name_bytes + static_cast<int>(max_growth) * max_rows;
constexpr tile_room room{max_name_bytes, max_visibility_bytes, max_output_of_tile, max_rows};

struct block_memory {
  staged_characters<max_name_bytes> names;
  staged_characters<max_visibility_bytes> visibilities;
  uint4 chars[max_output_of_tile / 16 + 1];
  int warp_bytes[threads / 32];
};
static_assert(sizeof(wide_row<std::int64_t>) * max_rows <= sizeof(staged_characters<max_name_bytes>),
              "redact_wide_tile has its measured rows where the names would be");

// Of a warp's 128 rows, a lane has every 32nd: what the lanes read and write at once lies side by side.
template <class Offset>
struct rows_of_lane {
  int first;  // in the tile
  int rows;   // of the tile
  row_position positions[rows_of_thread];

  __device__ __forceinline__ rows_of_lane(const columns<Offset>& in, std::int64_t first_row, int tile_rows)
      : first(static_cast<int>(threadIdx.x) / 32 * 32 * rows_of_thread + static_cast<int>(threadIdx.x) % 32),
        rows(tile_rows) {
#pragma unroll
    for (int k = 0; k < rows_of_thread; ++k)
      positions[k] =
          position_of(in.name_offsets + first_row, in.visibility_offsets + first_row, has(k) ? row(k) : 0);
  }

  [[nodiscard]] __device__ __forceinline__ int row(int k) const {
    return first + 32 * k;
  }
  [[nodiscard]] __device__ __forceinline__ bool has(int k) const {
    return row(k) < rows;
  }
  [[nodiscard]] __device__ __forceinline__ const row_position& position(int k) const {
    return positions[k];
  }
};

template <class Offset>
__global__ void __launch_bounds__(threads, blocks_per_multiprocessor)
    redact_kernel(columns<Offset> in, int tile_rows, look_back_word* words, Offset* offsets, char* chars) {
  __shared__ block_memory memory;
  __shared__ std::int64_t tile_begin;
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * tile_rows;
  const int rows = rows_from(in, first_row, tile_rows);

  // Load the characters of the tile's rows into shared memory.
  const tile_characters<Offset, max_name_bytes, max_visibility_bytes, threads> tile(
      in.name_offsets + first_row, in.visibility_offsets + first_row, rows);
  if (!tile.fits()) {
    redact_wide_tile<whole_block<threads>>(
        in, blockIdx.x, first_row, rows, reinterpret_cast<wide_row<Offset>*>(&memory), words, offsets, chars);
    return;
  }
  const rows_of_lane<Offset> mine(in, first_row, rows);
  tile.stage(in, memory.names, nullptr, memory.visibilities);
  __syncthreads();

  // Parse: each thread's rows into registers, and how many bytes of the tile lie before each of them.
  const staged_column names(memory.names.chunks + 1, tile.names_begin & ~Offset{15});
  const staged_column visibilities(memory.visibilities.chunks + 1, tile.visibilities_begin & ~Offset{15});
  register_row parsed[rows_of_thread];
  int at[rows_of_thread];
  const bool any_slow = parse_rows(names, visibilities, mine, parsed, at) < 0;
  const int of_warp = warp_exclusive_sums(at);
  if (thread % 32 == 0) memory.warp_bytes[warp] = of_warp;
  __syncthreads();
  const warp_sums sums = sum_over_warps(memory.warp_bytes, warp);

  // Publish the aggregate, put the output together in shared memory, and look back.
  if (thread == 0) publish_aggregate(words, blockIdx.x, sums.total);
  char* const text = reinterpret_cast<char*>(memory.chars);
#pragma unroll
  for (int k = 0; k < rows_of_thread; ++k) {
    at[k] += sums.before;
    if (mine.has(k)) write_row(text + at[k], parsed[k]);
  }
  if (any_slow) write_slow_rows(text, names, mine, parsed, at);
  if (thread < 4) text[sums.total + thread] = 0;  // copy_out reads whole words, up to one behind the last
  if (thread < 32) {
    const std::int64_t begin = look_back(words, blockIdx.x, sums.total);
    if (thread == 0) tile_begin = begin;
  }
  __syncthreads();

  // Write the offsets and the characters.
  const std::int64_t begin = tile_begin;
#pragma unroll
  for (int k = 0; k < rows_of_thread; ++k) {
    if (mine.has(k)) offsets[first_row + mine.row(k)] = static_cast<Offset>(begin + at[k]);
  }
  if (first_row + rows == in.rows && thread == 0) offsets[in.rows] = static_cast<Offset>(begin + sums.total);
  copy_out<threads>(chars, begin, memory.chars, sums.total, thread);
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const int tile_rows = tile_rows_of(in, room, 0.9);
    const dim3 blocks = blocks_for_rows(in.rows, tile_rows);
    const resource_buffer<look_back_word> words(resource, blocks.x, stream);
    bounded_output<Offset> out(in, resource, stream);
    const nvtx_range range("redact");
    if (in.rows == 0) {
      CUDA_CHECK(cudaMemsetAsync(out.offsets.data(), 0, sizeof(Offset), stream));
    } else {
      CUDA_CHECK(cudaMemsetAsync(words.data(), 0, words.bytes(), stream));
      lab::launch(redact_kernel<Offset>, blocks, dim3(threads), 0, stream, columns_of<Offset>(in), tile_rows,
                  words.data(), out.offsets.data(), out.chars.data());
    }
    return out.release();
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "rows in registers: a name is read from shared memory once, and written from there",
     .launch = launch,
     .tile = max_rows}};

}  // namespace
}  // namespace lab::redact::register_rows
