// Two passes as before, but a block's threads load the characters of its rows together, 16 bytes per load,
// into shared memory. They redact there, one word at a time, and the block also writes its rows together.
#include "common/nvtx.hpp"
#include "stages/redact/columns.hpp"
#include "stages/redact/copy_out.hpp"
#include "stages/redact/exclusive_scan.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/read_back.hpp"
#include "stages/redact/staged_tile.hpp"
#include "stages/redact/wide_row.hpp"

namespace lab::redact::cooperative {
namespace {

template <class Offset>
__global__ void __launch_bounds__(tile_threads)
    sizes_kernel(columns<Offset> in, int tile_rows, Offset* sizes) {
  __shared__ tile_memory memory;
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * tile_rows;
  const tile_of_rows<Offset> tile(in.name_offsets + first_row, in.visibility_offsets + first_row,
                                  rows_from(in, first_row, tile_rows));
  if (blockIdx.x == 0 && threadIdx.x == 0) sizes[in.rows] = 0;
  if (!tile.fits()) {
    for (int row = static_cast<int>(threadIdx.x) / 32; row < tile.rows; row += tile_threads / 32) {
      const wide_row<Offset> measured = measure_wide_row(in, first_row + row);
      if (threadIdx.x % 32 == 0) sizes[first_row + row] = measured.bytes;
    }
    return;
  }
  tile.stage(in, memory.names, memory.spaces, memory.visibilities);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < rows_per_thread; ++k) {
    if (tile.has(k))
      sizes[first_row + tile.row(k)] =
          static_cast<Offset>(tile.redact(k, memory.names, memory.spaces, memory.visibilities).bytes());
  }
}

template <class Offset>
__global__ void __launch_bounds__(tile_threads)
    write_kernel(columns<Offset> in, int tile_rows, const Offset* offsets, char* chars) {
  __shared__ tile_memory memory;
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * tile_rows;
  const tile_of_rows<Offset> tile(in.name_offsets + first_row, in.visibility_offsets + first_row,
                                  rows_from(in, first_row, tile_rows));
  const Offset begin = offsets[first_row];
  const Offset end = offsets[first_row + tile.rows];
  if (!tile.fits() || end - begin > chars_capacity) {
    for (int row = static_cast<int>(threadIdx.x) / 32; row < tile.rows; row += tile_threads / 32)
      write_wide_row(in, first_row + row, measure_wide_row(in, first_row + row),
                     chars + offsets[first_row + row]);
    return;
  }
  tile.stage(in, memory.names, memory.spaces, memory.visibilities);
  clear(memory.chars);
  __syncthreads();
  staged_row redacted[rows_per_thread];
#pragma unroll
  for (int k = 0; k < rows_per_thread; ++k)
    redacted[k] = tile.has(k) ? tile.redact(k, memory.names, memory.spaces, memory.visibilities)
                              : staged_row{0, 0, 0, 0};
  if (tile.has(0))
    write_rows(memory.chars, static_cast<int>(offsets[first_row + tile.row(0)] - begin), redacted,
               memory.names);
  __syncthreads();
  // exercise: copy
  copy_out<tile_threads>(chars, begin, memory.chars, static_cast<int>(end - begin),
                         static_cast<int>(threadIdx.x));
  // end
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const columns<Offset> all = columns_of<Offset>(in);
    const int tile_rows = tile_rows_of(in);
    // One block at least: it writes the 0 behind the last row.
    const dim3 blocks = blocks_for_rows(std::max<std::int64_t>(in.rows, 1), tile_rows);
    resource_buffer<Offset> offsets(resource, static_cast<std::size_t>(in.rows + 1), stream);
    {
      const nvtx_range range("sizes");
      lab::launch(sizes_kernel<Offset>, blocks, dim3(tile_threads), 0, stream, all, tile_rows,
                  offsets.data());
    }
    {
      const nvtx_range range("offsets");
      exclusive_scan(offsets.data(), in.rows + 1, resource, stream);
    }
    const auto bytes = static_cast<std::int64_t>(read_back(offsets.data() + in.rows, stream));
    resource_buffer<char> chars(resource, static_cast<std::size_t>(bytes), stream);
    if (in.rows > 0) {
      const nvtx_range range("write");
      lab::launch(write_kernel<Offset>, blocks, dim3(tile_threads), 0, stream, all, tile_rows, offsets.data(),
                  chars.data());
    }
    return {offsets.release(), chars.release(), bytes};
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "a block reads and writes the characters of its rows together, 16 bytes at a time",
     .launch = launch,
     .tile = max_tile_rows,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::cooperative
