// The single pass, for names of any length. Long names are cut into pieces of 32 KiB, and the blocks share
// this work by bytes. A pass before it finds where each first name ends, and a pass after it copies them.
#include "common/look_back.hpp"
#include "common/multiprocessors.hpp"
#include "common/nvtx.hpp"
#include "stages/redact/block_scan.hpp"
#include "stages/redact/bounded_output.hpp"
#include "stages/redact/columns.hpp"
#include "stages/redact/copy_out.hpp"
#include "stages/redact/long_rows.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/staged_tile.hpp"
#include "stages/redact/wide_tile.hpp"

namespace lab::redact::by_bytes {
namespace {

constexpr int blocks_per_multiprocessor = 6;
constexpr int piece_blocks_per_multiprocessor = 4;

// As in the stage before, but for the tiles that cannot be staged: their long rows are measured already, and
// copied later.
template <class Offset>
__global__ void __launch_bounds__(tile_threads, blocks_per_multiprocessor)
    redact_kernel(columns<Offset> in, int tile_rows, look_back_word* words, Offset* offsets, char* chars,
                  long_row_table table) {
  __shared__ tile_memory memory;
  __shared__ std::int64_t tile_begin;
  const long_rows_of_tile<Offset> long_rows{in, table.of_tile[blockIdx.x], table.rows};
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * tile_rows;
  if (in.rows == 0) {
    if (thread == 0) offsets[0] = 0;
    return;
  }

  const tile_of_rows<Offset> tile(in.name_offsets + first_row, in.visibility_offsets + first_row,
                                  rows_from(in, first_row, tile_rows));
  bool fits = tile.fits();
  staged_row redacted[rows_per_thread];
  int bytes[rows_per_thread];
  block_scan_result<int> scan{};
  if (fits) {
    tile.stage(in, memory.names, memory.spaces, memory.visibilities);
    clear(memory.chars);
    __syncthreads();
    scan =
        block_scan<int>(tile.redact_rows(memory.names, memory.spaces, memory.visibilities, redacted, bytes));
    fits = scan.total <= chars_capacity;
  }
  if (!fits) {
    __syncthreads();  // the staged names are no longer read
    redact_wide_tile(in, blockIdx.x, first_row, tile.rows, reinterpret_cast<wide_row<Offset>*>(&memory),
                     words, offsets, chars, long_rows);
    return;
  }

  if (thread == 0) publish_aggregate(words, blockIdx.x, scan.total);
  write_rows(memory.chars, scan.before, redacted, memory.names);
  if (thread < 32) {
    const std::int64_t begin = look_back(words, blockIdx.x, scan.total);
    if (thread == 0) tile_begin = begin;
  }
  __syncthreads();
  const std::int64_t begin = tile_begin;
  write_offsets(offsets + first_row, tile.rows, begin + scan.before, bytes);
  if (first_row + tile.rows == in.rows && thread == 0)
    offsets[in.rows] = static_cast<Offset>(begin + scan.total);
  copy_out<tile_threads>(chars, begin, memory.chars, scan.total, thread);
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const columns<Offset> all = columns_of<Offset>(in);
    const int tile_rows = tile_rows_of(in);
    const dim3 blocks = blocks_for_rows(std::max<std::int64_t>(in.rows, 1), tile_rows);
    const std::int64_t tiles = blocks.x;
    // What must be zero comes first: the look-back's words, the counts, and the tiles' long rows.
    const std::size_t words_bytes = aligned(look_back_bytes(tiles));
    const std::size_t counts_bytes = aligned(sizeof(long_row_counts));
    const std::size_t zeros_bytes =
        words_bytes + counts_bytes + aligned(static_cast<std::size_t>(tiles) * sizeof(tile_long_rows));
    const resource_buffer<unsigned char> zeros(resource, zeros_bytes, stream);
    const resource_buffer<long_row> long_rows(resource,
                                              static_cast<std::size_t>(long_row_table::max_rows(in)), stream);
    const resource_buffer<int> row_of_piece(resource,
                                            static_cast<std::size_t>(long_row_table::max_pieces(in)), stream);
    auto* words = reinterpret_cast<look_back_word*>(zeros.data());
    const long_row_table table{reinterpret_cast<long_row_counts*>(zeros.data() + words_bytes),
                               reinterpret_cast<tile_long_rows*>(zeros.data() + words_bytes + counts_bytes),
                               long_rows.data(), row_of_piece.data()};
    bounded_output<Offset> out(in, resource, stream);
    const dim3 piece_blocks(static_cast<unsigned>(piece_blocks_per_multiprocessor * multiprocessors()));
    CUDA_CHECK(cudaMemsetAsync(zeros.data(), 0, zeros_bytes, stream));
    {
      const nvtx_range range("long rows");
      lab::launch(find_long_rows_kernel<Offset>, blocks_for_rows(tiles, piece_threads), dim3(piece_threads),
                  0, stream, all, tile_rows, in.rows == 0 ? 0 : tiles, table);
      lab::launch(find_spaces_kernel<Offset>, piece_blocks, dim3(piece_threads), 0, stream, all, table);
    }
    {
      const nvtx_range range("redact");
      lab::launch(redact_kernel<Offset>, blocks, dim3(tile_threads), 0, stream, all, tile_rows, words,
                  out.offsets.data(), out.chars.data(), table);
    }
    {
      const nvtx_range range("long first names");
      lab::launch(copy_first_names_kernel<Offset>, piece_blocks, dim3(piece_threads), 0, stream, all,
                  out.offsets.data(), out.chars.data(), table);
    }
    return out.release();
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "names of any length: the long ones are cut into pieces that all blocks share",
     .launch = launch,
     .tile = max_tile_rows}};

}  // namespace
}  // namespace lab::redact::by_bytes
