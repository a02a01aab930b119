// Each public row allocates its own memory with malloc, in the kernel. A second kernel gathers the rows into
// a column, and a last one frees the memory. No pass is needed to find the lengths first, but all threads of
// the device share one heap.
#include <cstdlib>
#include <string>

#include "common/nvtx.hpp"
#include "harness/device/track.hpp"
#include "stages/redact/gather.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/read_back.hpp"
#include "stages/redact/row.hpp"

namespace lab::redact::device_malloc {
namespace {

constexpr int block_threads = 256;

// A heap has the size it is given before the first kernel with malloc runs, and keeps it.
constexpr std::size_t heap_bytes = std::size_t{1} << 30;
// For a row of a few bytes malloc takes more: alignment, and its own record. 128 bytes a row are more than it
// needs; a row that gets no memory is counted all the same.
constexpr std::int64_t max_rows = static_cast<std::int64_t>(heap_bytes) / 128;

// Rows that are not public lie here, all of them.
__device__ const char hidden[private_bytes] = {'X', ' ', 'X'};

// Where each row is and how long; 0 behind the last length. A row that gets no memory is at nullptr, and
// counted.
template <class Offset>
__global__ void redact_kernel(const Offset* name_offsets, const char* names, const Offset* visibility_offsets,
                              const char* visibilities, std::int64_t rows, const char** row_chars,
                              Offset* sizes, unsigned long long* rows_without_memory) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (row > rows) return;
  Offset size = 0;
  if (row < rows) {
    const Offset name = name_offsets[row];
    const Offset visibility = visibility_offsets[row];
    const char* chars = hidden;
    size = private_bytes;
    if (is_public(visibilities + visibility, visibility_offsets[row + 1] - visibility)) {
      const auto parts = split(names + name, name_offsets[row + 1] - name);
      size = parts.redacted_bytes();
      // exercise: row
      auto* const out = static_cast<char*>(malloc(static_cast<std::size_t>(size)));
      if (out != nullptr) {
        write_public(out, names + name, parts);
      } else {
        atomicAdd(rows_without_memory, 1ULL);
      }
      chars = out;
      // end
    }
    row_chars[row] = chars;
  }
  sizes[row] = size;
}

__global__ void free_kernel(const char* const* row_chars, std::int64_t rows) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (row < rows && row_chars[row] != hidden) free(const_cast<char*>(row_chars[row]));
}

struct row_pointers {
  const char* const* chars;
  __device__ __forceinline__ const char* operator()(std::int64_t row) const { return chars[row]; }
};

// Frees the rows at the end of the scope, also when the column finds no memory: the heap outlives the launch.
class rows_in_heap {
 public:
  rows_in_heap(const char* const* row_chars, std::int64_t rows, cudaStream_t stream)
      : row_chars_(row_chars), rows_(rows), stream_(stream) {}
  rows_in_heap(const rows_in_heap&) = delete;
  rows_in_heap& operator=(const rows_in_heap&) = delete;
  ~rows_in_heap() {
    const nvtx_range range("free");
    try {
      lab::launch(free_kernel, blocks_for_rows(rows_, block_threads), dim3(block_threads), 0, stream_,
                  row_chars_, rows_);
    } catch (const cuda_error&) {
      // A stream that refuses a kernel has refused something before, which is on its way to the caller.
    }
  }

 private:
  const char* const* row_chars_;
  std::int64_t rows_;
  cudaStream_t stream_;
};

void set_heap_size() {
#if !LAB_EMULATED  // whose heap is the host's
  [[maybe_unused]] static const bool once = [] {
    CUDA_CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, heap_bytes));
    return true;
  }();
#endif
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    set_heap_size();
    resource_buffer<const char*> row_chars(resource, static_cast<std::size_t>(in.rows), stream);
    resource_buffer<Offset> sizes(resource, static_cast<std::size_t>(in.rows + 1), stream);
    const resource_buffer<unsigned long long> without_memory(resource, 1, stream);
    CUDA_CHECK(cudaMemsetAsync(without_memory.data(), 0, without_memory.bytes(), stream));
    {
      const nvtx_range range("redact");
      lab::launch(redact_kernel<Offset>, blocks_for_rows(in.rows + 1, block_threads), dim3(block_threads), 0,
                  stream, static_cast<const Offset*>(in.names.offsets), in.names.chars,
                  static_cast<const Offset*>(in.visibilities.offsets), in.visibilities.chars, in.rows,
                  row_chars.data(), sizes.data(), without_memory.data());
    }
    const rows_in_heap freed_at_end(row_chars.data(), in.rows, stream);
    if (const auto count = read_back(without_memory.data(), stream); count > 0) {
      throw unsupported_error(std::to_string(count) + " of " + std::to_string(in.rows) +
                              " rows got no memory: the device's heap of " + std::to_string(heap_bytes) +
                              " bytes is exhausted");
    }
    return gather(row_pointers{row_chars.data()}, in.rows, std::move(sizes), resource, stream);
  });
}

std::string unsupported(const problem::parameters& p) {
  if (p.rows <= max_rows) return "";
  return "more than " + std::to_string(max_rows) + " rows may not fit into the device's heap of " +
         std::to_string(heap_bytes) + " bytes";
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "each row takes its memory from malloc in the kernel; gathered into a column, then freed",
     .launch = launch,
     .unsupported = unsupported,
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::device_malloc
