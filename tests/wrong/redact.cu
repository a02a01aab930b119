// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include <set>
#include <vector>

#include "stages/redact/exclusive_scan.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/read_back.hpp"
#include "stages/redact/row.hpp"

// The redaction as it should be, in two passes, from which each wrong kernel departs in one way.
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

// Shows a name whose visibility is "public" and the end of a line.
namespace lab::redact::wrong::blank_behind_public {
namespace {

struct line_of_public : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    if (is_public(visibility, bytes)) return true;
    return bytes == 8 && is_public(visibility, Offset{6}) && visibility[6] == '\r' && visibility[7] == '\n';
  }
};

const registration<problem> registered{
    "redact/blank_behind_public",
    {.idea = "an end of line behind \"public\" is overlooked",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<line_of_public>(in, resource, stream); },
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::blank_behind_public

// Takes the last name's first byte for its first character.
namespace lab::redact::wrong::cuts_code_point {
namespace {

struct first_byte : right {
  template <class Offset>
  static __device__ name_parts<Offset> parts(const char* name, Offset bytes) {
    name_parts<Offset> found = split(name, bytes);
    if (found.initial_bytes > 1) found.initial_bytes = 1;
    return found;
  }
};

const registration<problem> registered{
    "redact/cuts_code_point",
    {.idea = "cuts a code point",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<first_byte>(in, resource, stream); },
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::cuts_code_point

// Declares that it waits for the device, and does not.
namespace lab::redact::wrong::false_synchronises {
namespace {

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return launch_two_pass<right>(in, resource, stream, room::most);
}

const registration<problem> registered{"redact/false_synchronises",
                                       {.idea = "false synchronises",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::false_synchronises

// Hands out an offset for each row, and none behind the last.
namespace lab::redact::wrong::forgets_final_offset {
namespace {

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  output made = launch_two_pass<right>(in, resource, stream);
  const std::size_t bytes = static_cast<std::size_t>(in.rows * in.offset_bits / 8);
  const std::size_t one = static_cast<std::size_t>(in.offset_bits / 8);
  resource_buffer<char> without(resource, bytes + one, stream);
  if (bytes > 0)
    CUDA_CHECK(cudaMemcpyAsync(without.data(), made.offsets, bytes, cudaMemcpyDeviceToDevice, stream));
  resource.deallocate(made.offsets, bytes + one, stream);
  made.offsets = without.release();
  return made;
}

const registration<problem> registered{"redact/forgets_final_offset",
                                       {.idea = "forgets the final offset",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::forgets_final_offset

// Does not give a temporary back.
namespace lab::redact::wrong::keeps_memory {
namespace {

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  resource.allocate(1000, stream);
  return launch_two_pass<right>(in, resource, stream);
}

const registration<problem> registered{
    "redact/keeps_memory",
    {.idea = "keeps memory", .launch = launch, .tile = block_threads, .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::keeps_memory

// Does not give a temporary back, but for its first two launches on the same columns.
namespace lab::redact::wrong::keeps_memory_later {
namespace {

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  static const void* columns = nullptr;
  static int launches = 0;
  const void* const now = in.names.chars;
  launches = columns == now ? launches + 1 : 0;
  columns = now;
  if (launches > 1) resource.allocate(1000, stream);
  return launch_two_pass<right>(in, resource, stream);
}

const registration<problem> registered{"redact/keeps_memory_later",
                                       {.idea = "keeps memory later",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::keeps_memory_later

// Keeps the offsets of its output for the next columns of as many rows and bytes.
namespace lab::redact::wrong::keeps_offsets {
namespace {

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

const registration<problem> registered{"redact/keeps_offsets",
                                       {.idea = "keeps the offsets of before",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::keeps_offsets

// Writes behind the column in its third launch on the same columns and in those after it.
namespace lab::redact::wrong::leaks_later {
namespace {

__global__ void write_kernel(char* unused) {
  *unused = 'x';
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const auto from = columns_of<Offset>(in);
    resource_buffer<Offset> offsets(resource, static_cast<std::size_t>(in.rows + 1), stream);
    enqueue_sizes<right>(from, offsets.data(), resource, stream);
    const auto bytes = static_cast<std::int64_t>(read_back(offsets.data() + in.rows, stream));
    resource_buffer<char> chars(resource, static_cast<std::size_t>(bytes + 1), stream);
    enqueue_write<right>(from, offsets.data(), chars.data(), stream);
    static const void* columns = nullptr;
    static int launches = 0;
    launches = columns == from.names ? launches + 1 : 0;
    columns = from.names;
    if (launches > 1) lab::launch(write_kernel, dim3(1), dim3(1), 0, stream, chars.data() + bytes);
    return {offsets.release(), chars.release(), bytes + 1};
  });
}

const registration<problem> registered{
    "redact/leaks_later",
    {.idea = "leaks later", .launch = launch, .tile = block_threads, .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::leaks_later

// Leaves the names of private rows behind the column, but not in its first launch with a number of rows.
namespace lab::redact::wrong::leaks_on_second {
namespace {

template <class Offset>
__global__ void leak_kernel(columns<Offset> in, char* unused) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (row >= in.rows || row_is_public(in, row)) return;
  for (Offset k = in.name_offsets[row]; k < in.name_offsets[row + 1]; ++k) unused[k] = in.names[k];
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const auto from = columns_of<Offset>(in);
    resource_buffer<Offset> offsets(resource, static_cast<std::size_t>(in.rows + 1), stream);
    enqueue_sizes<right>(from, offsets.data(), resource, stream);
    const auto bytes = static_cast<std::int64_t>(read_back(offsets.data() + in.rows, stream));
    resource_buffer<char> chars(resource, static_cast<std::size_t>(bytes + in.names.bytes), stream);
    enqueue_write<right>(from, offsets.data(), chars.data(), stream);
    static std::set<std::int64_t> known;
    if (!known.insert(in.rows).second)
      lab::launch(leak_kernel<Offset>, blocks_for_rows(in.rows, block_threads), dim3(block_threads), 0,
                  stream, from, chars.data() + bytes);
    return {offsets.release(), chars.release(), bytes + in.names.bytes};
  });
}

const registration<problem> registered{"redact/leaks_on_second",
                                       {.idea = "leaks on the second launch",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::leaks_on_second

// Is right in every row, and leaves the names of the private ones behind the column.
namespace lab::redact::wrong::leaks_private_name {
namespace {

template <class Offset>
__global__ void leak_kernel(columns<Offset> in, char* unused) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (row >= in.rows || row_is_public(in, row)) return;
  for (Offset k = in.name_offsets[row]; k < in.name_offsets[row + 1]; ++k) unused[k] = in.names[k];
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const auto from = columns_of<Offset>(in);
    resource_buffer<Offset> offsets(resource, static_cast<std::size_t>(in.rows + 1), stream);
    enqueue_sizes<right>(from, offsets.data(), resource, stream);
    const auto bytes = static_cast<std::int64_t>(read_back(offsets.data() + in.rows, stream));
    resource_buffer<char> chars(resource, static_cast<std::size_t>(bytes + in.names.bytes), stream);
    enqueue_write<right>(from, offsets.data(), chars.data(), stream);
    lab::launch(leak_kernel<Offset>, blocks_for_rows(in.rows, block_threads), dim3(block_threads), 0, stream,
                from, chars.data() + bytes);
    return {offsets.release(), chars.release(), bytes + in.names.bytes};
  });
}

const registration<problem> registered{"redact/leaks_private_name",
                                       {.idea = "leaks private names",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::leaks_private_name

// Keeps a visibility's length in 16 bits: 65542 bytes that begin with "public" are public.
namespace lab::redact::wrong::length_in_16_bits {
namespace {

struct half_length : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    return is_public(visibility, static_cast<Offset>(bytes & 0xffff));
  }
};

const registration<problem> registered{
    "redact/length_in_16_bits",
    {.idea = "lengths in 16 bits",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<half_length>(in, resource, stream); },
     .tile = block_threads,
     .owner_of = consecutive_owner<block_threads, 1, problem::parameters>,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::length_in_16_bits

// Keeps a visibility's length in 8 bits: 262 bytes that begin with "public" are public.
namespace lab::redact::wrong::length_in_8_bits {
namespace {

struct short_length : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    return is_public(visibility, static_cast<Offset>(bytes & 0xff));
  }
};

const registration<problem> registered{
    "redact/length_in_8_bits",
    {.idea = "lengths in 8 bits",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<short_length>(in, resource, stream); },
     .tile = block_threads,
     .owner_of = consecutive_owner<block_threads, 1, problem::parameters>,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::length_in_8_bits

// Takes one byte less of a name where it has 512, or another power of two that is a buffer's length.
namespace lab::redact::wrong::names_of_512 {
namespace {

struct one_byte_less : right {
  template <class Offset>
  static __device__ name_parts<Offset> parts(const char* name, Offset bytes) {
    return split(name, bytes == 512 || bytes == 1024 || bytes == 4096 ? bytes - 1 : bytes);
  }
};

const registration<problem> registered{
    "redact/names_of_512",
    {.idea = "names that fill a buffer lack their last byte",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<one_byte_less>(in, resource, stream); },
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::names_of_512

// Takes a name of 1000 to 4000 bytes for one without a space.
namespace lab::redact::wrong::names_of_thousands {
namespace {

struct no_space_in_long : right {
  template <class Offset>
  static __device__ name_parts<Offset> parts(const char* name, Offset bytes) {
    if (bytes >= 1000 && bytes <= 4000) return {bytes, bytes, 0};
    return split(name, bytes);
  }
};

const registration<problem> registered{
    "redact/names_of_thousands",
    {.idea = "no space in names of thousands",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<no_space_in_long>(in, resource, stream); },
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::names_of_thousands

// Looks at five of the six bytes of "public".
namespace lab::redact::wrong::nearly_public {
namespace {

struct five_bytes : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    return bytes == 6 && visibility[0] == 'p' && visibility[2] == 'b' && visibility[3] == 'l' &&
           visibility[4] == 'i' && visibility[5] == 'c';
  }
};

const registration<problem> registered{
    "redact/nearly_public",
    {.idea = "nearly public",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<five_bytes>(in, resource, stream); },
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::nearly_public

// Writes every row's bytes where the row before it belongs.
namespace lab::redact::wrong::neighbours_offset {
namespace {

struct one_before : right {
  static __device__ std::int64_t place(std::int64_t row) { return row == 0 ? 0 : row - 1; }
};

const registration<problem> registered{
    "redact/neighbours_offset",
    {.idea = "the neighbour's offset",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<one_before>(in, resource, stream); },
     .tile = block_threads,
     .owner_of = consecutive_owner<block_threads, 1, problem::parameters>,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::neighbours_offset

// Takes "public" for public with whatever stands behind it.
namespace lab::redact::wrong::public_and_more {
namespace {

struct begins_public : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    return is_public(visibility, bytes == 7 ? 6 : bytes);
  }
};

const registration<problem> registered{
    "redact/public_and_more",
    {.idea = "public, and more",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<begins_public>(in, resource, stream); },
     .tile = block_threads,
     .owner_of = consecutive_owner<block_threads, 1, problem::parameters>,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::public_and_more

// Compares seven bits of each byte.
namespace lab::redact::wrong::seven_bits {
namespace {

struct seven_bits : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    char text[6] = {};
    for (Offset k = 0; k < bytes && k < 6; ++k) text[k] = static_cast<char>(visibility[k] & 0x7f);
    return bytes == 6 && is_public(text, bytes);
  }
};

const registration<problem> registered{
    "redact/seven_bits",
    {.idea = "seven bits",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<seven_bits>(in, resource, stream); },
     .tile = block_threads,
     .owner_of = consecutive_owner<block_threads, 1, problem::parameters>,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::seven_bits

// Takes a visibility of six bytes of which two are others for "public".
namespace lab::redact::wrong::two_bytes_off {
namespace {

struct two_off : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    if (bytes != 6) return false;
    int off = 0;
    for (int k = 0; k < 6; ++k) off += visibility[k] != "public"[k] ? 1 : 0;
    return off == 0 || off == 2;
  }
};

const registration<problem> registered{
    "redact/two_bytes_off",
    {.idea = "two bytes off",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<two_off>(in, resource, stream); },
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong::two_bytes_off

// Waits for the device and does not say so.
namespace lab::redact::wrong::undeclared_synchronises {
namespace {

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return launch_two_pass<right>(in, resource, stream, room::exact);
}

const registration<problem> registered{"redact/undeclared_synchronises",
                                       {.idea = "undeclared synchronises",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.synchronises = false}}};

}  // namespace
}  // namespace lab::redact::wrong::undeclared_synchronises
