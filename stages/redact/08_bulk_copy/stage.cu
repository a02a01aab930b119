// The TMA copies the rows into shared memory, so no registers wait for the data and no instructions
// compute addresses. Each block also prefetches the rows of a much later block into the L2 cache, so
// hardly any block waits for memory. Visibilities and offsets, once parsed, make room for the
// output.
//
// The file has more than 150 lines because a tile is loaded in one of two ways: by a bulk copy or, at the end
// of an array, as in the single pass.
#include "common/bulk_copy.hpp"
#include "common/look_back.hpp"
#include "common/multiprocessors.hpp"
#include "common/nvtx.hpp"
#include "stages/redact/block_scan.hpp"
#include "stages/redact/bounded_output.hpp"
#include "stages/redact/columns.hpp"
#include "stages/redact/copy_out.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/staged_tile.hpp"
#include "stages/redact/wide_tile.hpp"

namespace lab::redact::bulk_copy {
namespace {

constexpr int blocks_per_multiprocessor = 7;
// How far ahead rows are brought into the cache, in blocks of a multiprocessor.
constexpr int blocks_ahead = 3;

template <class Offset>
struct parsed_memory {
  staged_characters<visibilities_capacity> visibilities;
  Offset name_offsets[max_tile_rows + offsets_behind<Offset>];
  Offset visibility_offsets[max_tile_rows + offsets_behind<Offset>];
};

template <class Offset>
struct bulk_memory {
  staged_characters<names_capacity> names;
  alignas(16) unsigned short spaces[space_words];
  union alignas(16) {
    parsed_memory<Offset> parsed;
    uint4 chars[chars_chunks];
  };
};

// Where a tile lies in the four arrays, in whole chunks of 16 bytes.
template <class Offset>
struct tile_source {
  Offset names, visibilities;  // where the chunks begin
  int names_bytes, visibilities_bytes;
  bool can_be_copied;  // fits, and no chunk reaches beyond its array's end

  __device__ __forceinline__ tile_source(const columns<Offset>& in, std::int64_t first_row, int tile_rows) {
    can_be_copied = first_row + tile_rows + offsets_behind<Offset> <= in.rows + 1;
    if (!can_be_copied) return;
    const Offset names_end = in.name_offsets[first_row + tile_rows];
    const Offset visibilities_end = in.visibility_offsets[first_row + tile_rows];
    const Offset names_begin = in.name_offsets[first_row];
    const Offset visibilities_begin = in.visibility_offsets[first_row];
    can_be_copied = names_end - names_begin <= names_capacity && names_end > names_begin &&
                    visibilities_end - visibilities_begin <= visibilities_capacity &&
                    visibilities_end > visibilities_begin && in.names_bytes - names_end >= 15 &&
                    in.visibilities_bytes - visibilities_end >= 15;
    names = names_begin & ~Offset{15};
    visibilities = visibilities_begin & ~Offset{15};
    names_bytes = static_cast<int>((names_end - names + 15) & ~Offset{15});
    visibilities_bytes = static_cast<int>((visibilities_end - visibilities + 15) & ~Offset{15});
  }
};

template <class Offset>
__device__ __forceinline__ bool order_copies(const columns<Offset>& in, std::int64_t first_row, int tile_rows,
                                             bulk_memory<Offset>& memory, mbarrier& full) {
  const tile_source<Offset> source(in, first_row, tile_rows);
  if (!source.can_be_copied) return false;
  const int offsets = tile_rows + offsets_behind<Offset>;
  copy_in(memory.parsed.name_offsets, in.name_offsets + first_row, offsets, full);
  copy_in(memory.parsed.visibility_offsets, in.visibility_offsets + first_row, offsets, full);
  copy_in(reinterpret_cast<char*>(memory.names.chunks + 1), in.names + source.names, source.names_bytes,
          full);
  copy_in(reinterpret_cast<char*>(memory.parsed.visibilities.chunks + 1),
          in.visibilities + source.visibilities, source.visibilities_bytes, full);
  return true;
}

template <class Offset>
__device__ __forceinline__ void order_prefetches(const columns<Offset>& in, std::int64_t first_row,
                                                 int tile_rows) {
  const tile_source<Offset> source(in, first_row, tile_rows);
  if (!source.can_be_copied) return;
  const int offsets = tile_rows + offsets_behind<Offset>;
  prefetch(in.name_offsets + first_row, offsets);
  prefetch(in.visibility_offsets + first_row, offsets);
  prefetch(in.names + source.names, source.names_bytes);
  prefetch(in.visibilities + source.visibilities, source.visibilities_bytes);
}

// A bit for each space among the names that were copied in. A barrier stands at the end.
template <class Offset>
__device__ __forceinline__ void mark_spaces(const tile_of_rows<Offset>& tile, bulk_memory<Offset>& memory) {
  const int chunks = static_cast<int>((tile.names_end - (tile.names_begin & ~Offset{15}) + 15) / 16);
  for (int chunk = static_cast<int>(threadIdx.x); chunk < chunks; chunk += tile_threads)
    memory.spaces[chunk] = static_cast<unsigned short>(spaces_of(memory.names.chunks[chunk + 1]));
  __syncthreads();
}

// What each of this thread's rows becomes, and of how many bytes: nothing for one that the tile does not
// have. The sum of these.
template <class Offset>
__device__ __forceinline__ int redact_rows(const tile_of_rows<Offset>& tile,
                                           const bulk_memory<Offset>& memory,
                                           staged_row (&redacted)[rows_per_thread],
                                           int (&bytes)[rows_per_thread]) {
  int of_thread = 0;
#pragma unroll
  for (int k = 0; k < rows_per_thread; ++k) {
    if (tile.has(k)) redacted[k] = tile.redact(k, memory.names, memory.spaces, memory.parsed.visibilities);
    bytes[k] = redacted[k].bytes();
    of_thread += bytes[k];
  }
  return of_thread;
}

template <class Offset>
__global__ void __launch_bounds__(tile_threads, blocks_per_multiprocessor)
    redact_kernel(columns<Offset> in, int tile_rows, int tiles_ahead, look_back_word* words, Offset* offsets,
                  char* chars) {
  __shared__ __align__(128) bulk_memory<Offset> memory;
  __shared__ mbarrier full;
  __shared__ bool is_copied;
  __shared__ std::int64_t tile_begin;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first_row = std::int64_t{blockIdx.x} * tile_rows;
  if (thread == 0) {
    full.initialise(4);
    fence_mbarrier_init();
    is_copied = order_copies(in, first_row, tile_rows, memory, full);
  }
  __syncthreads();
  if (thread == tile_threads - 1)
    order_prefetches(in, first_row + std::int64_t{tiles_ahead} * tile_rows, tile_rows);
  const int rows = rows_from(in, first_row, tile_rows);
  staged_row redacted[rows_per_thread] = {};
  int bytes[rows_per_thread];
  block_scan_result<int> scan{};
  bool fits = true;
  const auto redact_and_scan = [&](const tile_of_rows<Offset>& tile) {
    scan = block_scan<int>(redact_rows(tile, memory, redacted, bytes));
    fits = scan.total <= chars_capacity;
  };
  if (is_copied) {
    full.wait(0);
    const tile_of_rows<Offset> tile(memory.parsed.name_offsets, memory.parsed.visibility_offsets, rows);
    mark_spaces(tile, memory);
    redact_and_scan(tile);
  } else {
    const tile_of_rows<Offset> tile(in.name_offsets + first_row, in.visibility_offsets + first_row, rows);
    fits = tile.fits();
    if (fits) {
      tile.stage(in, memory.names, memory.spaces, memory.parsed.visibilities);
      __syncthreads();
      redact_and_scan(tile);
    }
  }
  if (!fits) {
    __syncthreads();  // the staged names are no longer read
    redact_wide_tile(in, blockIdx.x, first_row, rows, reinterpret_cast<wide_row<Offset>*>(&memory), words,
                     offsets, chars);
    return;
  }
  if (thread == 0) publish_aggregate(words, blockIdx.x, scan.total);
  clear(memory.chars);
  __syncthreads();
  write_rows(memory.chars, scan.before, redacted, memory.names);
  if (thread < 32) {
    const std::int64_t begin = look_back(words, blockIdx.x, scan.total);
    if (thread == 0) tile_begin = begin;
  }
  __syncthreads();
  const std::int64_t begin = tile_begin;
  write_offsets(offsets + first_row, rows, begin + scan.before, bytes);
  if (first_row + rows == in.rows && thread == 0) offsets[in.rows] = static_cast<Offset>(begin + scan.total);
  copy_out<tile_threads>(chars, begin, memory.chars, scan.total, thread);
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const int tile_rows = tile_rows_of(in);
    const dim3 blocks = blocks_for_rows(in.rows, tile_rows);
    const resource_buffer<look_back_word> words(resource, blocks.x, stream);
    bounded_output<Offset> out(in, resource, stream);
    const nvtx_range range("redact");
    if (in.rows == 0) {
      CUDA_CHECK(cudaMemsetAsync(out.offsets.data(), 0, sizeof(Offset), stream));
    } else {
      CUDA_CHECK(cudaMemsetAsync(words.data(), 0, words.bytes(), stream));
      lab::launch(redact_kernel<Offset>, blocks, dim3(tile_threads), 0, stream, columns_of<Offset>(in),
                  tile_rows, blocks_ahead * multiprocessors(), words.data(), out.offsets.data(),
                  out.chars.data());
    }
    return out.release();
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "bulk copies instead of loads, from a cache that other blocks have filled",
     .launch = launch,
     .tile = max_tile_rows,
     .traits = {.minimum_compute_capability = 90}}};

}  // namespace
}  // namespace lab::redact::bulk_copy
