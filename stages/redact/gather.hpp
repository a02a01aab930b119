// Rows that are made already, but lie apart, become a column: their lengths are summed up, and a thread
// copies each row to its place.
#pragma once

#include "common/cuda.hpp"
#include "common/memory_resource.hpp"
#include "common/nvtx.hpp"
#include "stages/redact/exclusive_scan.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/read_back.hpp"
#include "stages/redact/row.hpp"

namespace lab::redact {

inline constexpr int gather_threads = 256;

template <class Source, class Offset>
__global__ void gather_kernel(Source source, std::int64_t rows, const Offset* offsets, char* chars) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * gather_threads + threadIdx.x;
  if (row >= rows) return;
  const char* from = source(row);
  const Offset end = offsets[row + 1];
  for (Offset at = offsets[row]; at < end; ++at) chars[at] = *from++;
}

// `source(row)`, called on the device, is where a row's characters are; `sizes` are the rows' lengths, and 0
// behind the last. Waits for the device.
template <class Source, class Offset>
output gather(Source source, std::int64_t rows, resource_buffer<Offset> sizes, memory_resource& resource,
              cudaStream_t stream) {
  Offset* const offsets = sizes.data();  // in place
  {
    const nvtx_range range("offsets");
    exclusive_scan(offsets, rows + 1, resource, stream);
  }
  const auto bytes = static_cast<std::int64_t>(read_back(offsets + rows, stream));
  resource_buffer<char> chars(resource, static_cast<std::size_t>(bytes), stream);
  {
    const nvtx_range range("gather");
    lab::launch(gather_kernel<Source, Offset>, blocks_for_rows(rows, gather_threads), dim3(gather_threads), 0,
                stream, source, rows, offsets, chars.data());
  }
  return {sizes.release(), chars.release(), bytes};
}

}  // namespace lab::redact
