// One pass: a block redacts its rows in shared memory, learns from its predecessors where they begin in the
// output (decoupled look-back), and writes them there. Nothing is read twice, and the host does not wait:
// memory is allocated for the largest possible output, which is known in advance.
#include "common/look_back.hpp"
#include "common/nvtx.hpp"
#include "stages/redact/block_scan.hpp"
#include "stages/redact/bounded_output.hpp"
#include "stages/redact/columns.hpp"
#include "stages/redact/copy_out.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/staged_tile.hpp"
#include "stages/redact/wide_tile.hpp"

namespace lab::redact::single_pass {
namespace {

constexpr int blocks_per_multiprocessor = 6;

template <class Offset>
__global__ void __launch_bounds__(tile_threads, blocks_per_multiprocessor)
    redact_kernel(columns<Offset> in, int tile_rows, look_back_word* words, Offset* offsets, char* chars) {
  __shared__ tile_memory memory;
  __shared__ std::int64_t tile_begin;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * tile_rows;
  if (in.rows == 0) {
    if (thread == 0) offsets[0] = 0;
    return;
  }

  // Load the characters of the tile's rows into shared memory, and redact the rows there: each thread learns
  // what its rows become, and how many bytes the rows of the threads before it and of the whole tile have.
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
                     words, offsets, chars);
    return;
  }

  // Publish the aggregate at once: blocks behind this one wait for it.
  // exercise: publish
  if (thread == 0) publish_aggregate(words, blockIdx.x, scan.total);
  // end
  // Put the output together in shared memory, while the blocks before this one publish theirs.
  write_rows(memory.chars, scan.before, redacted, memory.names);

  // Look back: the sum of the bytes of all tiles before this one is where it begins in the output.
  if (thread < 32) {
    // exercise: look_back
    const std::int64_t begin = look_back(words, blockIdx.x, scan.total);
    if (thread == 0) tile_begin = begin;
    // end
  }
  __syncthreads();

  // Write the offsets and the characters.
  const std::int64_t begin = tile_begin;
  write_offsets(offsets + first_row, tile.rows, begin + scan.before, bytes);
  if (first_row + tile.rows == in.rows && thread == 0)
    offsets[in.rows] = static_cast<Offset>(begin + scan.total);
  copy_out<tile_threads>(chars, begin, memory.chars, scan.total, thread);
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const int tile_rows = tile_rows_of(in);
    const dim3 blocks = blocks_for_rows(std::max<std::int64_t>(in.rows, 1), tile_rows);
    const resource_buffer<look_back_word> words(resource, blocks.x, stream);
    bounded_output<Offset> out(in, resource, stream);
    const nvtx_range range("redact");
    CUDA_CHECK(cudaMemsetAsync(words.data(), 0, words.bytes(), stream));
    lab::launch(redact_kernel<Offset>, blocks, dim3(tile_threads), 0, stream, columns_of<Offset>(in),
                tile_rows, words.data(), out.offsets.data(), out.chars.data());
    return out.release();
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "one pass: a block learns from those before it where its rows begin",
     .launch = launch,
     .tile = max_tile_rows}};

}  // namespace
}  // namespace lab::redact::single_pass
