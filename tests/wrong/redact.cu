// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include <set>
#include <vector>

#include "stages/redact/exclusive_scan.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/read_back.hpp"
#include "stages/redact/row.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::redact::wrong {
namespace {

// The redaction as it should be, in two passes, from which each wrong kernel departs in one way.

constexpr int block_threads = 128;

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
  static __device__ std::int64_t output_row(std::int64_t row) { return row; }
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
  char* const out = chars + offsets[Rules::output_row(row)];
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

// Right, with room for `unused` bytes behind the column, with which spoil(columns, bytes) does something.
template <class Spoil>
output launch_and_spoil(const input& in, memory_resource& resource, cudaStream_t stream, std::int64_t unused,
                        const Spoil& spoil) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const auto from = columns_of<Offset>(in);
    resource_buffer<Offset> offsets(resource, static_cast<std::size_t>(in.rows + 1), stream);
    enqueue_sizes<right>(from, offsets.data(), resource, stream);
    const auto bytes = static_cast<std::int64_t>(read_back(offsets.data() + in.rows, stream));
    resource_buffer<char> chars(resource, static_cast<std::size_t>(bytes + unused), stream);
    enqueue_write<right>(from, offsets.data(), chars.data(), stream);
    spoil(from, chars.data() + bytes);
    return {offsets.release(), chars.release(), bytes + unused};
  });
}

template <class Offset>
__global__ void leak_kernel(columns<Offset> in, char* unused) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (row >= in.rows || row_is_public(in, row)) return;
  for (Offset k = in.name_offsets[row]; k < in.name_offsets[row + 1]; ++k) unused[k] = in.names[k];
}

// The names of private rows behind the column, if `leaks`.
output launch_leak(const input& in, memory_resource& resource, cudaStream_t stream, bool leaks) {
  return launch_and_spoil(in, resource, stream, in.names.bytes,
                          [&]<class Offset>(const columns<Offset>& from, char* unused) {
                            if (!leaks) return;
                            lab::launch(leak_kernel<Offset>, blocks_for_rows(in.rows, block_threads),
                                        dim3(block_threads), 0, stream, from, unused);
                          });
}

template <class Rules>
output launch_with(const input& in, memory_resource& resource, cudaStream_t stream) {
  return launch_two_pass<Rules>(in, resource, stream);
}

stage<problem> as_stage(const char* idea, launch_of<problem>::type launch) {
  return {.idea = idea,
          .launch = launch,
          .tile = block_threads,
          .owner_of = consecutive_owner<block_threads, 1, problem::parameters>,
          .traits = {.synchronises = true}};
}

// Shows a name whose visibility is "public" and the end of a line.
struct blank_behind_public : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    if (is_public(visibility, bytes)) return true;
    return bytes == 8 && is_public(visibility, Offset{6}) && visibility[6] == '\r' && visibility[7] == '\n';
  }
};
WRONG(blank_behind_public, failure_kind::wrong, "row",
      as_stage("an end of line behind \"public\" is overlooked", launch_with<blank_behind_public>));

// Takes the last name's first byte for its first character.
struct cuts_code_point : right {
  template <class Offset>
  static __device__ name_parts<Offset> parts(const char* name, Offset bytes) {
    name_parts<Offset> found = split(name, bytes);
    if (found.initial_bytes > 1) found.initial_bytes = 1;
    return found;
  }
};
WRONG(cuts_code_point, failure_kind::wrong, "found \"\\xf0 ",
      as_stage("cuts a code point", launch_with<cuts_code_point>));

// Declares that it waits for the device, and does not.
output false_synchronises(const input& in, memory_resource& resource, cudaStream_t stream) {
  return launch_two_pass<right>(in, resource, stream, room::most);
}
WRONG(false_synchronises, failure_kind::wrong, on_gpu("a stage that declares synchronises"),
      as_stage("false synchronises", false_synchronises));

// Hands out an offset for each row, and none behind the last.
output forgets_final_offset(const input& in, memory_resource& resource, cudaStream_t stream) {
  output result = launch_two_pass<right>(in, resource, stream);
  const std::size_t bytes = static_cast<std::size_t>(in.rows * in.offset_bits / 8);
  const std::size_t one = static_cast<std::size_t>(in.offset_bits / 8);
  resource_buffer<char> without(resource, bytes + one, stream);
  if (bytes > 0)
    CUDA_CHECK(cudaMemcpyAsync(without.data(), result.offsets, bytes, cudaMemcpyDeviceToDevice, stream));
  resource.deallocate(result.offsets, bytes + one, stream);
  result.offsets = without.release();
  return result;
}
WRONG(forgets_final_offset, failure_kind::wrong,
      "expected a final offset of  ... found -1, which is the poison: it was never written",
      as_stage("forgets the final offset", forgets_final_offset));

// Does not give a temporary back.
output keeps_memory(const input& in, memory_resource& resource, cudaStream_t stream) {
  resource.allocate(1000, stream);
  return launch_two_pass<right>(in, resource, stream);
}
WRONG(keeps_memory, failure_kind::wrong, "did not give back 1000 bytes of 1 allocation",
      as_stage("keeps memory", keeps_memory));

// Does not give a temporary back, but for its first two launches on the same columns.
output keeps_memory_later(const input& in, memory_resource& resource, cudaStream_t stream) {
  static const void* columns = nullptr;
  static int launches = 0;
  const void* const now = in.names.chars;
  launches = columns == now ? launches + 1 : 0;
  columns = now;
  if (launches > 1) resource.allocate(1000, stream);
  return launch_two_pass<right>(in, resource, stream);
}
WRONG(keeps_memory_later, failure_kind::wrong, on_emulator("did not give back 1000 bytes of 1 allocation"),
      as_stage("keeps memory later", keeps_memory_later));

// Keeps the offsets of its output for the next columns of as many rows and bytes.
namespace keeps_offsets {
struct kept_offsets {
  std::int64_t rows = -1;
  std::int64_t name_bytes = 0;
  std::int64_t visibility_bytes = 0;
  int offset_bits = 0;
  std::vector<char> offsets;

  [[nodiscard]] bool are_of(const input& in) const {
    return rows == in.rows && name_bytes == in.names.bytes && visibility_bytes == in.visibilities.bytes &&
           offset_bits == in.offset_bits;
  }
};
kept_offsets before;

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const auto from = columns_of<Offset>(in);
    resource_buffer<Offset> offsets(resource, static_cast<std::size_t>(in.rows + 1), stream);
    const std::size_t all = static_cast<std::size_t>(in.rows + 1) * sizeof(Offset);
    if (before.are_of(in)) {
      CUDA_CHECK(cudaMemcpyAsync(offsets.data(), before.offsets.data(), all, cudaMemcpyHostToDevice, stream));
    } else {
      enqueue_sizes<right>(from, offsets.data(), resource, stream);
      before = {in.rows, in.names.bytes, in.visibilities.bytes, in.offset_bits, std::vector<char>(all)};
      CUDA_CHECK(cudaMemcpyAsync(before.offsets.data(), offsets.data(), all, cudaMemcpyDeviceToHost, stream));
    }
    const auto bytes = static_cast<std::int64_t>(read_back(offsets.data() + in.rows, stream));
    resource_buffer<char> chars(resource, static_cast<std::size_t>(bytes), stream);
    enqueue_write<right>(from, offsets.data(), chars.data(), stream);
    return {offsets.release(), chars.release(), bytes};
  });
}

WRONG(keeps_offsets, std::nullopt, emulated ? "after a launch on nearly the same input" : "second launch",
      as_stage("keeps the offsets of before", launch));
}  // namespace keeps_offsets

// Writes behind the column in its third launch on the same columns and in those after it.
__global__ void write_behind(char* unused) {
  *unused = 'x';
}

output leaks_later(const input& in, memory_resource& resource, cudaStream_t stream) {
  static const void* columns = nullptr;
  static int launches = 0;
  launches = columns == in.names.chars ? launches + 1 : 0;
  columns = in.names.chars;
  return launch_and_spoil(in, resource, stream, 1, [&](const auto& /*from*/, char* unused) {
    if (launches > 1) lab::launch(write_behind, dim3(1), dim3(1), 0, stream, unused);
  });
}
WRONG(leaks_later, failure_kind::out_of_bounds, on_emulator("beyond the column"),
      as_stage("leaks later", leaks_later));

// Leaves the names of private rows behind the column, but not in its first launch with a number of rows.
output leaks_on_second(const input& in, memory_resource& resource, cudaStream_t stream) {
  static std::set<std::int64_t> known;
  return launch_leak(in, resource, stream, !known.insert(in.rows).second);
}
WRONG(leaks_on_second, failure_kind::out_of_bounds, "second launch",
      as_stage("leaks on the second launch", leaks_on_second));

// Is right in every row, and leaves the names of the private ones behind the column.
output leaks_private_name(const input& in, memory_resource& resource, cudaStream_t stream) {
  return launch_leak(in, resource, stream, true);
}
WRONG(leaks_private_name, failure_kind::out_of_bounds, "private text of row  ...  in unused output, ",
      as_stage("leaks private names", leaks_private_name));

// Keeps a visibility's length in 16 bits: 65542 bytes that begin with "public" are public.
struct length_in_16_bits : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    return is_public(visibility, static_cast<Offset>(bytes & 0xffff));
  }
};
WRONG(length_in_16_bits, failure_kind::wrong, "expected \"X X\"",
      as_stage("lengths in 16 bits", launch_with<length_in_16_bits>));

// Keeps a visibility's length in 8 bits: 262 bytes that begin with "public" are public.
struct length_in_8_bits : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    return is_public(visibility, static_cast<Offset>(bytes & 0xff));
  }
};
WRONG(length_in_8_bits, failure_kind::wrong, "expected \"X X\"",
      as_stage("lengths in 8 bits", launch_with<length_in_8_bits>));

// Takes one byte less of a name where it has 512, or another power of two that is a buffer's length.
struct names_of_512 : right {
  template <class Offset>
  static __device__ name_parts<Offset> parts(const char* name, Offset bytes) {
    return split(name, bytes == 512 || bytes == 1024 || bytes == 4096 ? bytes - 1 : bytes);
  }
};
WRONG(names_of_512, failure_kind::wrong, "row",
      as_stage("names that fill a buffer lack their last byte", launch_with<names_of_512>));

// Takes a name of 1000 to 4000 bytes for one without a space.
struct names_of_thousands : right {
  template <class Offset>
  static __device__ name_parts<Offset> parts(const char* name, Offset bytes) {
    if (bytes >= 1000 && bytes <= 4000) return {bytes, bytes, 0};
    return split(name, bytes);
  }
};
WRONG(names_of_thousands, failure_kind::wrong, "row",
      as_stage("no space in names of thousands", launch_with<names_of_thousands>));

// Looks at five of the six bytes of "public".
struct nearly_public : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    return bytes == 6 && visibility[0] == 'p' && visibility[2] == 'b' && visibility[3] == 'l' &&
           visibility[4] == 'i' && visibility[5] == 'c';
  }
};
WRONG(nearly_public, failure_kind::wrong, "expected \"X X\"",
      as_stage("nearly public", launch_with<nearly_public>));

// Writes every row's bytes where the row before it belongs.
struct neighbours_offset : right {
  static __device__ std::int64_t output_row(std::int64_t row) { return row == 0 ? 0 : row - 1; }
};
WRONG(neighbours_offset, failure_kind::wrong, ": expected \"",
      as_stage("the neighbour's offset", launch_with<neighbours_offset>));

// Takes "public" for public with whatever stands behind it.
struct public_and_more : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    return is_public(visibility, bytes == 7 ? 6 : bytes);
  }
};
WRONG(public_and_more, failure_kind::wrong, "expected \"X X\"",
      as_stage("public, and more", launch_with<public_and_more>));

// Compares seven bits of each byte.
struct seven_bits : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    char text[6] = {};
    for (Offset k = 0; k < bytes && k < 6; ++k) text[k] = static_cast<char>(visibility[k] & 0x7f);
    return bytes == 6 && is_public(text, bytes);
  }
};
WRONG(seven_bits, failure_kind::wrong, "expected \"X X\"", as_stage("seven bits", launch_with<seven_bits>));

// Takes a visibility of six bytes of which two are others for "public".
struct two_bytes_off : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    if (bytes != 6) return false;
    int off = 0;
    for (int k = 0; k < 6; ++k) off += visibility[k] != "public"[k] ? 1 : 0;
    return off == 0 || off == 2;
  }
};
WRONG(two_bytes_off, failure_kind::wrong, "expected \"X X\"",
      as_stage("two bytes off", launch_with<two_bytes_off>));

// Waits for the device and does not say so.
output undeclared_synchronises(const input& in, memory_resource& resource, cudaStream_t stream) {
  return launch_two_pass<right>(in, resource, stream, room::exact);
}
WRONG(undeclared_synchronises, failure_kind::launch, on_gpu("a launch must only enqueue work on its stream"),
      {.idea = "undeclared synchronises",
       .launch = undeclared_synchronises,
       .tile = block_threads,
       .traits = {.synchronises = false}});

}  // namespace
}  // namespace lab::redact::wrong
