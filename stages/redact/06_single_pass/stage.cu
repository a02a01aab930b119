// One pass: a block that has redacted its rows in shared memory learns from its predecessors where they begin
// in the output (decoupled look-back), and writes them there. Nothing is read twice, and the host waits for
// nothing: the characters are allocated at the bound, which is known beforehand.
#include "common/look_back.hpp"
#include "common/nvtx.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/staged_tile.hpp"
#include "stages/redact/wide_row.hpp"

namespace lab::redact::single_pass {
namespace {

constexpr int blocks_per_multiprocessor = 9;

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
    int of_thread = 0;
#pragma unroll
    for (int k = 0; k < rows_per_thread; ++k) {
      redacted[k] = tile.has(k) ? tile.redact(k, memory.names, memory.spaces, memory.visibilities)
                                : staged_row{0, 0, 0, 0};
      bytes[k] = redacted[k].bytes();
      of_thread += bytes[k];
    }
    scan = block_scan<int>(of_thread);
    fits = scan.total <= chars_capacity;
  }
  if (!fits) {
    __syncthreads();  // the staged names are no longer read
    redact_wide_tile(in, blockIdx.x, first_row, tile.rows, reinterpret_cast<wide_row<Offset>*>(&memory),
                     words, offsets, chars);
    return;
  }
  if (thread == 0) publish_sum(words, blockIdx.x, scan.total);
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
  copy_out(chars, begin, memory.chars, scan.total);
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const int tile_rows = tile_rows_of(in);
    const dim3 blocks = blocks_for_rows(std::max<std::int64_t>(in.rows, 1), tile_rows);
    const std::size_t word_bytes = look_back_bytes(blocks.x);
    const resource_buffer<unsigned char> words(resource, word_bytes, stream);
    resource_buffer<Offset> offsets(resource, static_cast<std::size_t>(in.rows + 1), stream);
    resource_buffer<char> chars(resource, static_cast<std::size_t>(most_output_bytes(in)), stream);
    const nvtx_range range("redact");
    CUDA_CHECK(cudaMemsetAsync(words.data(), 0, word_bytes, stream));
    lab::launch(redact_kernel<Offset>, blocks, dim3(tile_threads), 0, stream, columns_of<Offset>(in),
                tile_rows, reinterpret_cast<look_back_word*>(words.data()), offsets.data(), chars.data());
    return {offsets.release(), chars.release(), most_output_bytes(in)};
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "one pass: a block learns from those before it where its rows begin",
     .launch = launch,
     .tile = most_tile_rows,
     .metrics = {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                 "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "dram__bytes_read.sum",
                 "dram__bytes_write.sum"}}};

}  // namespace
}  // namespace lab::redact::single_pass
