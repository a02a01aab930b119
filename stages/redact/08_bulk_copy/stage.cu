// The copy engine brings the rows into shared memory: no register waits for them, so that more blocks fit on
// a multiprocessor, and no instruction computes an address. What a tile no longer needs once it is parsed,
// its visibilities and offsets, makes room for its output.
#include "common/bulk_copy.hpp"
#include "common/look_back.hpp"
#include "common/multiprocessors.hpp"
#include "common/nvtx.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/staged_tile.hpp"
#include "stages/redact/wide_row.hpp"

namespace lab::redact::bulk_copy {
namespace {

constexpr int blocks_per_multiprocessor = 9;

#if !LAB_EMULATED

// Offsets are copied 16 bytes at a time; the last of them holds the one behind the tile's rows.
template <class Offset>
constexpr int offsets_behind = 16 / static_cast<int>(sizeof(Offset));

template <class Offset>
struct bulk_memory {
  staged_characters<names_capacity> names;
  staged_characters<visibilities_capacity> visibilities;
  alignas(16) Offset name_offsets[most_tile_rows + offsets_behind<Offset>];
  alignas(16) Offset visibility_offsets[most_tile_rows + offsets_behind<Offset>];
  alignas(16) unsigned short spaces[space_words];
  uint4 chars[chars_chunks];
};

// Whole chunks of 16 bytes around [begin, end).
template <int capacity, class Offset>
__device__ __forceinline__ void copy_chunks(staged_characters<capacity>& to, const char* from, Offset begin,
                                            Offset end, copy_barrier& full) {
  const Offset base = begin & ~Offset{15};
  copy_in(reinterpret_cast<char*>(to.chunks + 1), from + base,
          static_cast<int>((end - base + 15) & ~Offset{15}), full);
}

// One thread orders the tile's four copies. False when they cannot be made: the characters do not fit, or the
// tile is so near the end of an array that whole chunks would reach beyond it.
template <class Offset>
__device__ __forceinline__ bool order_copies(const columns<Offset>& in, std::int64_t first_row, int tile_rows,
                                             bulk_memory<Offset>& memory, copy_barrier& full) {
  const int offsets = tile_rows + offsets_behind<Offset>;
  if (first_row + offsets > in.rows + 1) return false;
  const Offset names_begin = in.name_offsets[first_row];
  const Offset names_end = in.name_offsets[first_row + tile_rows];
  const Offset visibilities_begin = in.visibility_offsets[first_row];
  const Offset visibilities_end = in.visibility_offsets[first_row + tile_rows];
  if (names_end - names_begin > names_capacity || names_end == names_begin ||
      visibilities_end - visibilities_begin > visibilities_capacity ||
      visibilities_end == visibilities_begin || names_end + 15 > in.names_bytes ||
      visibilities_end + 15 > in.visibilities_bytes)
    return false;
  copy_in(memory.name_offsets, in.name_offsets + first_row, offsets, full);
  copy_in(memory.visibility_offsets, in.visibility_offsets + first_row, offsets, full);
  copy_chunks(memory.names, in.names, names_begin, names_end, full);
  copy_chunks(memory.visibilities, in.visibilities, visibilities_begin, visibilities_end, full);
  return true;
}

template <class Offset>
__global__ void __launch_bounds__(tile_threads, blocks_per_multiprocessor)
    redact_kernel(columns<Offset> in, int tile_rows, unsigned tiles, look_back_word* words, Offset* offsets,
                  char* chars) {
  __shared__ alignas(128) bulk_memory<Offset> memory;
  __shared__ copy_barrier full;
  __shared__ bool is_copied;
  __shared__ std::int64_t tile_begin;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    full.initialise(4);
    publish_barriers();
    is_copied = order_copies(in, std::int64_t{blockIdx.x} * tile_rows, tile_rows, memory, full);
  }
  unsigned copies = 0;  // tiles that came by bulk copies
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    __syncthreads();
    const std::int64_t first_row = std::int64_t{tile} * tile_rows;
    const int rows = rows_from(in, first_row, tile_rows);
    const bool copied = is_copied;
    if (copied) full.wait(copies++);
    const tile_of_rows<Offset> here(copied ? memory.name_offsets : in.name_offsets + first_row,
                                    copied ? memory.visibility_offsets : in.visibility_offsets + first_row,
                                    rows);
    bool fits = copied || here.fits();
    staged_row redacted[rows_per_thread] = {};
    int bytes[rows_per_thread];
    block_scan_result<int> scan{};
    if (fits) {
      clear(memory.chars);
      if (copied) {
        const int chunks = static_cast<int>((here.names_end - (here.names_begin & ~Offset{15}) + 15) / 16);
        for (int chunk = thread; chunk < chunks; chunk += tile_threads)
          memory.spaces[chunk] = static_cast<unsigned short>(spaces_of(memory.names.chunks[chunk + 1]));
      } else {
        here.stage(in, memory.names, memory.spaces, memory.visibilities);
      }
      __syncthreads();
      int of_thread = 0;
#pragma unroll
      for (int k = 0; k < rows_per_thread; ++k) {
        if (here.has(k)) redacted[k] = here.redact(k, memory.names, memory.spaces, memory.visibilities);
        bytes[k] = redacted[k].bytes();
        of_thread += bytes[k];
      }
      scan = block_scan<int>(of_thread);
      fits = scan.total <= chars_capacity;
    }
    if (fits) {
      if (thread == 0) publish_sum(words, tile, scan.total);
      write_rows(memory.chars, scan.before, redacted, memory.names);
    } else {
      __syncthreads();  // the staged names are no longer read
      redact_wide_tile(in, tile, first_row, rows, reinterpret_cast<wide_row<Offset>*>(&memory.names), words,
                       offsets, chars);
    }
    if (!copied) release_to_copies();
    __syncthreads();
    // What was staged is not needed any more.
    if (thread == 0 && tile + gridDim.x < tiles)
      is_copied = order_copies(in, first_row + std::int64_t{gridDim.x} * tile_rows, tile_rows, memory, full);
    if (!fits) continue;
    if (thread < 32) {
      const std::int64_t begin = look_back(words, tile, scan.total);
      if (thread == 0) tile_begin = begin;
    }
    __syncthreads();
    const std::int64_t begin = tile_begin;
    write_offsets(offsets + first_row, rows, begin + scan.before, bytes);
    if (first_row + rows == in.rows && thread == 0)
      offsets[in.rows] = static_cast<Offset>(begin + scan.total);
    copy_out(chars, begin, memory.chars, scan.total);
  }
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const int tile_rows = tile_rows_of(in);
    const dim3 blocks = blocks_for_rows(in.rows, tile_rows);
    const std::size_t word_bytes = look_back_bytes(blocks.x);
    const resource_buffer<unsigned char> words(resource, word_bytes, stream);
    resource_buffer<Offset> offsets(resource, static_cast<std::size_t>(in.rows + 1), stream);
    resource_buffer<char> chars(resource, static_cast<std::size_t>(most_output_bytes(in)), stream);
    const nvtx_range range("redact");
    if (in.rows == 0) {
      CUDA_CHECK(cudaMemsetAsync(offsets.data(), 0, sizeof(Offset), stream));
    } else {
      CUDA_CHECK(cudaMemsetAsync(words.data(), 0, word_bytes, stream));
      int resident = 0;
      CUDA_CHECK(
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, redact_kernel<Offset>, tile_threads, 0));
      // All blocks are on the device at once: each waits for what others find.
      const unsigned most = static_cast<unsigned>(resident * multiprocessors());
      lab::launch(redact_kernel<Offset>, dim3(std::min(blocks.x, most)), dim3(tile_threads), 0, stream,
                  columns_of<Offset>(in), tile_rows, blocks.x,
                  reinterpret_cast<look_back_word*>(words.data()), offsets.data(), chars.data());
    }
    return {offsets.release(), chars.release(), most_output_bytes(in)};
  });
}

#endif

const registration<problem> registered{
    LAB_PATH,
    {.idea = "bulk copies instead of loads: more blocks at once, and none of their instructions",
     .launch = LAB_GPU_ONLY(launch),
     .tile = most_tile_rows,
     .traits = {.gpu_only = true, .minimum_compute_capability = 90},
     .metrics = {"smsp__inst_executed.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
                 "dram__throughput.avg.pct_of_peak_sustained_elapsed"}}};

}  // namespace
}  // namespace lab::redact::bulk_copy
