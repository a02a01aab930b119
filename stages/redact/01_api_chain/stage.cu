// Whole columns at a time, as with a data-frame library: contains, copy_if_else, split, slice, concatenate.
// Each operation works well for any column of strings and knows nothing of names. Each writes a new column to
// memory, and the next one reads it. The file has more than 150 lines because it contains six such operations
// before the chain.
#include "common/nvtx.hpp"
#include "stages/redact/exclusive_scan.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/read_back.hpp"
#include "stages/redact/row.hpp"

namespace lab::redact::api_chain {
namespace {

constexpr int block_threads = 256;

template <class Offset>
struct text {
  const char* chars;
  Offset bytes;
};

// One short string for all rows, which kernels get with their arguments.
struct scalar {
  char chars[8];
  int bytes;
};

// A column whose memory something else owns.
template <class Offset>
struct column_view {
  const Offset* offsets;
  const char* chars;
  __device__ __forceinline__ text<Offset> operator[](std::int64_t row) const {
    return {chars + offsets[row], offsets[row + 1] - offsets[row]};
  }
};

template <class Offset>
struct string_column {
  resource_buffer<Offset> offsets;
  resource_buffer<char> chars;
  [[nodiscard]] column_view<Offset> view() const { return {offsets.data(), chars.data()}; }
};

__device__ __forceinline__ std::int64_t row_of_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
}

// ---- a new column, from what an operation says about its rows

// A value of fixed width for each row.
template <class Operation, class T>
__global__ void values_kernel(const __grid_constant__ Operation of, std::int64_t rows, T* values) {
  const std::int64_t row = row_of_thread();
  if (row < rows) values[row] = of(row);
}

// The length of each row, which is that of its parts together; 0 behind the last.
template <class Operation, class Offset>
__global__ void sizes_kernel(const __grid_constant__ Operation of, std::int64_t rows, Offset* sizes) {
  const std::int64_t row = row_of_thread();
  if (row > rows) return;
  Offset size = 0;
  for (int part = 0; part < Operation::parts && row < rows; ++part) size += of(row, part).bytes;
  sizes[row] = size;
}

template <class Operation, class Offset>
__global__ void copy_kernel(const __grid_constant__ Operation of, std::int64_t rows, const Offset* offsets,
                            char* chars) {
  const std::int64_t row = row_of_thread();
  if (row >= rows) return;
  char* out = chars + offsets[row];
  for (int part = 0; part < Operation::parts; ++part) {
    const text<Offset> from = of(row, part);
    for (Offset k = 0; k < from.bytes; ++k) *out++ = from.chars[k];
  }
}

// Where a launch runs the operations, and on how many rows.
struct context {
  std::int64_t rows;
  memory_resource& resource;
  cudaStream_t stream;
};

template <class T, class Operation>
resource_buffer<T> make_values(const char* name, const Operation& of, const context& in) {
  const nvtx_range range(name);
  resource_buffer<T> values(in.resource, static_cast<std::size_t>(in.rows), in.stream);
  lab::launch(values_kernel<Operation, T>, blocks_for_rows(in.rows, block_threads), dim3(block_threads), 0,
              in.stream, of, in.rows, values.data());
  return values;
}

template <class Offset, class Operation>
string_column<Offset> make_strings(const char* name, const Operation& of, const context& in) {
  const nvtx_range range(name);
  resource_buffer<Offset> offsets(in.resource, static_cast<std::size_t>(in.rows + 1), in.stream);
  lab::launch(sizes_kernel<Operation, Offset>, blocks_for_rows(in.rows + 1, block_threads),
              dim3(block_threads), 0, in.stream, of, in.rows, offsets.data());
  exclusive_scan(offsets.data(), in.rows + 1, in.resource, in.stream);
  const Offset bytes = read_back(offsets.data() + in.rows, in.stream);
  resource_buffer<char> chars(in.resource, static_cast<std::size_t>(bytes), in.stream);
  lab::launch(copy_kernel<Operation, Offset>, blocks_for_rows(in.rows, block_threads), dim3(block_threads), 0,
              in.stream, of, in.rows, offsets.data(), chars.data());
  return {std::move(offsets), std::move(chars)};
}

// Gives a column's memory back before the end of the scope.
template <class Column>
void release(Column /*no_longer_needed*/) {}

// ---- the operations, by what each says about a row

// Whether a row is `wanted`, from its beginning to its end (as a pattern: ^wanted$).
template <class Offset>
struct contains {
  column_view<Offset> strings;
  scalar wanted;
  __device__ __forceinline__ bool operator()(std::int64_t row) const {
    const text<Offset> found = strings[row];
    bool same = found.bytes == wanted.bytes;
    for (int k = 0; same && k < wanted.bytes; ++k) same = found.chars[k] == wanted.chars[k];
    return same;
  }
};

// The column's row where the condition holds, the scalar elsewhere.
template <class Offset>
struct copy_if_else {
  static constexpr int parts = 1;
  const bool* condition;
  column_view<Offset> then;
  scalar otherwise;
  __device__ __forceinline__ text<Offset> operator()(std::int64_t row, int /*part*/) const {
    return condition[row] ? then[row] : text<Offset>{otherwise.chars, otherwise.bytes};
  }
};

// The byte at which a row first has a character; the row's length where it has none.
template <class Offset>
struct find {
  column_view<Offset> strings;
  char wanted;
  __device__ __forceinline__ Offset operator()(std::int64_t row) const {
    const text<Offset> in = strings[row];
    Offset at = 0;
    while (at < in.bytes && in.chars[at] != wanted) ++at;
    return at;
  }
};

// Two columns come of a split: the part of a row before its separator, and the part behind.
enum class side { before, behind };
template <side part_of_row, class Offset>
struct split {
  static constexpr int parts = 1;
  column_view<Offset> strings;
  const Offset* separator_at;
  __device__ __forceinline__ text<Offset> operator()(std::int64_t row, int /*part*/) const {
    const text<Offset> whole = strings[row];
    const Offset at = separator_at[row];
    if (part_of_row == side::before) return {whole.chars, at};
    const Offset begin = at < whole.bytes ? at + 1 : at;
    return {whole.chars + begin, whole.bytes - begin};
  }
};

// The first characters of a row, as many as it has.
template <class Offset>
struct slice {
  static constexpr int parts = 1;
  column_view<Offset> strings;
  int characters;
  __device__ __forceinline__ text<Offset> operator()(std::int64_t row, int /*part*/) const {
    const text<Offset> whole = strings[row];
    // exercise: slice
    Offset end = 0;
    for (int k = 0; k < characters && end < whole.bytes; ++k) end += character_bytes(whole.chars[end]);
    return {whole.chars, end};
    // end
  }
};

template <class Offset>
struct concatenate {
  static constexpr int parts = 3;
  column_view<Offset> left;
  scalar separator;
  column_view<Offset> right;
  __device__ __forceinline__ text<Offset> operator()(std::int64_t row, int part) const {
    return part == 0 ? left[row] : part == 1 ? text<Offset>{separator.chars, separator.bytes} : right[row];
  }
};

// "X X" passes through the chain like a name: its initial is X, and so is its first name.
output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const auto view_of = [](const strings& column) -> column_view<Offset> {
      return {static_cast<const Offset*>(column.offsets), column.chars};
    };
    const context here{in.rows, resource, stream};
    const contains<Offset> is_public{view_of(in.visibilities), {"public", 6}};
    auto visible = make_values<bool>("contains", is_public, here);
    const copy_if_else<Offset> hide{visible.data(), view_of(in.names), {"X X", 3}};
    auto shown = make_strings<Offset>("copy_if_else", hide, here);
    release(std::move(visible));
    auto spaces = make_values<Offset>("find", find<Offset>{shown.view(), ' '}, here);
    const split<side::before, Offset> before_space{shown.view(), spaces.data()};
    const split<side::behind, Offset> behind_space{shown.view(), spaces.data()};
    auto first_names = make_strings<Offset>("split", before_space, here);
    auto last_names = make_strings<Offset>("split", behind_space, here);
    release(std::move(spaces));
    release(std::move(shown));
    auto initials = make_strings<Offset>("slice", slice<Offset>{last_names.view(), 1}, here);
    release(std::move(last_names));
    const concatenate<Offset> join{initials.view(), {" ", 1}, first_names.view()};
    auto redacted = make_strings<Offset>("concatenate", join, here);
    const auto bytes = static_cast<std::int64_t>(redacted.chars.size());
    return {redacted.offsets.release(), redacted.chars.release(), bytes};
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "general operations on whole columns, each of which leaves a new column in memory",
     .launch = launch,
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::api_chain
