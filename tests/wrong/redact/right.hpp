// The redaction as it should be, in two passes, from which each wrong kernel departs in one way.
#pragma once

#include "stages/redact/exclusive_scan.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/read_back.hpp"
#include "stages/redact/row.hpp"

namespace lab::redact::wrong {

inline constexpr int block_threads = 128;

// What a row gives and where it goes; the wrong kernels hide one of the functions.
struct right {
  template <class Offset>
  static __device__ name_parts<Offset> parts(const char* name, Offset bytes) {
    return split(name, bytes);
  }
  // Whether a row may be shown.
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    return is_public(visibility, bytes);
  }
  // The row at whose offset `row` is written.
  static __device__ std::int64_t place(std::int64_t row) { return row; }
};

// Device pointers with the type of the offsets.
template <class Offset>
struct columns {
  const Offset* name_offsets;
  const char* names;
  const Offset* visibility_offsets;
  const char* visibilities;
  std::int64_t rows;
};

template <class Offset>
columns<Offset> columns_of(const input& in) {
  return {static_cast<const Offset*>(in.names.offsets), in.names.chars,
          static_cast<const Offset*>(in.visibilities.offsets), in.visibilities.chars, in.rows};
}

template <class Rules = right, class Offset>
__device__ bool row_is_public(const columns<Offset>& in, std::int64_t row) {
  const Offset begin = in.visibility_offsets[row];
  return Rules::shown(in.visibilities + begin, in.visibility_offsets[row + 1] - begin);
}

template <class Rules, class Offset>
__global__ void sizes_kernel(columns<Offset> in, Offset* sizes) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (row > in.rows) return;
  sizes[row] = 0;
  if (row == in.rows) return;
  sizes[row] = private_bytes;
  const Offset begin = in.name_offsets[row];
  if (row_is_public<Rules>(in, row))
    sizes[row] = Rules::parts(in.names + begin, in.name_offsets[row + 1] - begin).redacted_bytes();
}

template <class Rules, class Offset>
__global__ void write_kernel(columns<Offset> in, const Offset* offsets, char* chars) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (row >= in.rows) return;
  char* const out = chars + offsets[Rules::place(row)];
  const Offset begin = in.name_offsets[row];
  if (row_is_public<Rules>(in, row)) {
    const char* const name = in.names + begin;
    write_public(out, name, Rules::parts(name, in.name_offsets[row + 1] - begin));
  } else {
    write_private(out);
  }
}

template <class Rules, class Offset>
void enqueue_sizes(const columns<Offset>& in, Offset* offsets, memory_resource& resource,
                   cudaStream_t stream) {
  lab::launch(sizes_kernel<Rules, Offset>, blocks_for_rows(in.rows + 1, block_threads), dim3(block_threads),
              0, stream, in, offsets);
  exclusive_scan(offsets, in.rows + 1, resource, stream);
}

template <class Rules, class Offset>
void enqueue_write(const columns<Offset>& in, const Offset* offsets, char* chars, cudaStream_t stream) {
  lab::launch(write_kernel<Rules, Offset>, blocks_for_rows(in.rows, block_threads), dim3(block_threads), 0,
              stream, in, offsets, chars);
}

// Allocates to the byte, which takes a wait for the device, or as much as there may be.
enum class room { exact, most };

template <class Rules>
output launch_two_pass(const input& in, memory_resource& resource, cudaStream_t stream,
                       room allocated = room::exact) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const auto from = columns_of<Offset>(in);
    resource_buffer<Offset> offsets(resource, static_cast<std::size_t>(in.rows + 1), stream);
    enqueue_sizes<Rules>(from, offsets.data(), resource, stream);
    const auto bytes = allocated == room::most
                           ? max_output_bytes(in)
                           : static_cast<std::int64_t>(read_back(offsets.data() + in.rows, stream));
    resource_buffer<char> chars(resource, static_cast<std::size_t>(bytes), stream);
    enqueue_write<Rules>(from, offsets.data(), chars.data(), stream);
    return {offsets.release(), chars.release(), bytes};
  });
}

}  // namespace lab::redact::wrong
