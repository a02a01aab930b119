// Every row is redacted twice: to find its length, then to write it. Between the passes a scan turns lengths
// into offsets, so exactly enough memory is allocated, and each character is written to its final place.
#include "common/nvtx.hpp"
#include "stages/redact/exclusive_scan.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/read_back.hpp"
#include "stages/redact/row.hpp"

namespace lab::redact::two_pass {
namespace {

constexpr int block_threads = 256;

// The lengths of the rows, and 0 behind the last: a scan over all of them ends with the total.
template <class Offset>
__global__ void sizes_kernel(const Offset* name_offsets, const char* names, const Offset* visibility_offsets,
                             const char* visibilities, std::int64_t rows, Offset* sizes) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (row > rows) return;
  Offset size = 0;
  if (row < rows) {
    const Offset name = name_offsets[row];
    // exercise: size
    const Offset visibility = visibility_offsets[row];
    size = private_bytes;
    if (is_public(visibilities + visibility, visibility_offsets[row + 1] - visibility))
      size = split(names + name, name_offsets[row + 1] - name).redacted_bytes();
    // end
  }
  sizes[row] = size;
}

template <class Offset>
__global__ void write_kernel(const Offset* name_offsets, const char* names, const Offset* visibility_offsets,
                             const char* visibilities, std::int64_t rows, const Offset* offsets,
                             char* chars) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (row >= rows) return;
  const Offset name = name_offsets[row];
  const Offset visibility = visibility_offsets[row];
  // exercise: write
  char* out = chars + offsets[row];
  if (is_public(visibilities + visibility, visibility_offsets[row + 1] - visibility)) {
    write_public(out, names + name, split(names + name, name_offsets[row + 1] - name));
  } else {
    write_private(out);
  }
  // end
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const auto* name_offsets = static_cast<const Offset*>(in.names.offsets);
    const auto* visibility_offsets = static_cast<const Offset*>(in.visibilities.offsets);
    resource_buffer<Offset> offsets(resource, static_cast<std::size_t>(in.rows + 1), stream);
    {
      const nvtx_range range("sizes");
      lab::launch(sizes_kernel<Offset>, blocks_for_rows(in.rows + 1, block_threads), dim3(block_threads), 0,
                  stream, name_offsets, in.names.chars, visibility_offsets, in.visibilities.chars, in.rows,
                  offsets.data());
    }
    {
      const nvtx_range range("offsets");
      exclusive_scan(offsets.data(), in.rows + 1, resource, stream);
    }
    const auto bytes = static_cast<std::int64_t>(read_back(offsets.data() + in.rows, stream));
    resource_buffer<char> chars(resource, static_cast<std::size_t>(bytes), stream);
    {
      const nvtx_range range("write");
      lab::launch(write_kernel<Offset>, blocks_for_rows(in.rows, block_threads), dim3(block_threads), 0,
                  stream, name_offsets, in.names.chars, visibility_offsets, in.visibilities.chars, in.rows,
                  offsets.data(), chars.data());
    }
    return {offsets.release(), chars.release(), bytes};
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "sizes, scan, allocate to the byte, write: each row is redacted twice and copied once",
     .launch = launch,
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::two_pass
