// Every row gets its place in one work buffer before its length is known. The place is far enough from the
// start even if all rows before grow as much as a row can. The finished rows are then gathered into a
// column.
#include "common/nvtx.hpp"
#include "stages/redact/gather.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/row.hpp"

namespace lab::redact::preallocated {
namespace {

constexpr int block_threads = 256;

// The bound that makes it safe: a row grows by max_growth bytes at the most. A public one is made of its
// name's own bytes and one space; "X X" may stand for an empty name.
static_assert(private_bytes <= max_growth && 1 <= max_growth, "rows would overlap in the work buffer");

// Row i may have name_offsets[i + 1] - name_offsets[i] + max_growth bytes, and these are its own.
template <class Offset>
struct work_buffer {
  char* chars;
  const Offset* name_offsets;
  __device__ __forceinline__ char* operator()(std::int64_t row) const {
    // exercise: place
    return chars + name_offsets[row] + max_growth * row;
    // end
  }
};

// Writes rows to the work buffer and their lengths to `sizes`; 0 behind the last.
template <class Offset>
__global__ void redact_kernel(const Offset* name_offsets, const char* names, const Offset* visibility_offsets,
                              const char* visibilities, std::int64_t rows, work_buffer<Offset> work,
                              Offset* sizes) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (row > rows) return;
  Offset size = 0;
  if (row < rows) {
    const Offset name = name_offsets[row];
    const Offset visibility = visibility_offsets[row];
    if (is_public(visibilities + visibility, visibility_offsets[row + 1] - visibility)) {
      const auto parts = split(names + name, name_offsets[row + 1] - name);
      write_public(work(row), names + name, parts);
      size = parts.redacted_bytes();
    } else {
      write_private(work(row));
      size = private_bytes;
    }
  }
  sizes[row] = size;
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const auto* name_offsets = static_cast<const Offset*>(in.names.offsets);
    const auto* visibility_offsets = static_cast<const Offset*>(in.visibilities.offsets);
    const resource_buffer<char> chars(resource, static_cast<std::size_t>(max_output_bytes(in)), stream);
    resource_buffer<Offset> sizes(resource, static_cast<std::size_t>(in.rows + 1), stream);
    const work_buffer<Offset> work{chars.data(), name_offsets};
    {
      const nvtx_range range("redact");
      lab::launch(redact_kernel<Offset>, blocks_for_rows(in.rows + 1, block_threads), dim3(block_threads), 0,
                  stream, name_offsets, in.names.chars, visibility_offsets, in.visibilities.chars, in.rows,
                  work, sizes.data());
    }
    return gather(work, in.rows, std::move(sizes), resource, stream);
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "one work buffer with room for the longest rows there may be, then a gather into the column",
     .launch = launch,
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::preallocated
