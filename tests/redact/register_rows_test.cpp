// Rows in registers, a warp for 32 rows, wherever in a column they are: also where positions pass 2^32.
#include <algorithm>
#include <string>
#include <vector>

#include "stages/redact/register_rows.hpp"
#include "tests/emulator/support.hpp"
#include "tests/redact/support.hpp"

using namespace lab::redact;

namespace {

constexpr int max_bytes = 16 * 1024 - 64;  // three of them, with their margins, within 48 KiB

struct staged {
  alignas(16) char characters[max_bytes + 32];
};

__device__ void stage(staged& to, const char* chars, int base, int end) {
  for (int at = base + static_cast<int>(threadIdx.x); at < end + 16; at += 32)
    to.characters[at - base] = at < end ? chars[at] : 'z';
}

// A warp for each 32 rows; `shift` is added to all positions, as if the column had begun so much earlier.
__global__ void redact_in_registers(const int* name_offsets, const char* names, const int* visibility_offsets,
                                    const char* visibilities, int rows, unsigned shift, int* bytes,
                                    const int* out_offsets, char* chars) {
  __shared__ staged staged_names;
  __shared__ staged staged_visibilities;
  __shared__ char out[max_bytes];
  const int first = static_cast<int>(blockIdx.x) * 32;
  const int end = first + 32 < rows ? first + 32 : rows;
  const int lane = static_cast<int>(threadIdx.x);
  const int name_base = name_offsets[first] / 16 * 16;
  const int visibility_base = visibility_offsets[first] / 16 * 16;
  stage(staged_names, names, name_base, name_offsets[end]);
  stage(staged_visibilities, visibilities, visibility_base, visibility_offsets[end]);
  __syncwarp();
  const staged_column of_names(staged_names.characters, static_cast<std::int64_t>(name_base) + shift);
  const staged_column of_visibilities(staged_visibilities.characters,
                                      static_cast<std::int64_t>(visibility_base) + shift);
  const bool has = first + lane < end;
  const int row = has ? first + lane : first;
  const row_position position{static_cast<unsigned>(name_offsets[row]) + shift,
                              static_cast<unsigned>(name_offsets[row + 1]) + shift,
                              static_cast<unsigned>(visibility_offsets[row]) + shift,
                              static_cast<unsigned>(visibility_offsets[row + 1]) + shift};
  int is_slow = 0;
  register_row parsed = parse_row(of_names, of_visibilities, position, is_slow);
  if (is_slow < 0) parse_slow_row(of_names, of_visibilities, position, parsed);
  const unsigned size = has ? static_cast<unsigned>(parsed.bytes()) : 0;
  const unsigned at = warp_inclusive_sum(size) - size;
  if (has) {
    bytes[row] = static_cast<int>(size);
    write_row(out + at, parsed);
    if (is_slow < 0) write_slow_row(out + at, of_names, position.name_begin, parsed);
  }
  __syncwarp();
  for (unsigned k = 0; k < size; ++k) chars[out_offsets[row] + static_cast<int>(k)] = out[at + k];
}

// One value at least.
template <class To, class From>
std::vector<To> values_of(const lab::host_array<From>& values) {
  std::vector<To> copy(static_cast<std::size_t>(std::max<std::int64_t>(values.size(), 1)));
  for (std::int64_t k = 0; k < values.size(); ++k)
    copy[static_cast<std::size_t>(k)] = static_cast<To>(values[k]);
  return copy;
}

}  // namespace

TEST_CASE("rows in registers are what the reference says, wherever in the column they are") {
  const auto kind = GENERATE(content::people, content::all_private, content::all_public, content::empty,
                             content::multibyte, content::hostile);
  const unsigned shift = GENERATE(0u, 0xffffffe0u);  // over the end of 32 bits as well
  for_each_schedule();
  const int rows = 32 * 40 + 7;
  const people data = make_people(kind, rows, 5);
  const lab::column expected = redacted(data);
  REQUIRE(data.names.chars.size() / 40 < max_bytes / 2);
  const device_array<int> name_offsets(values_of<int>(data.names.offsets));
  const device_array<char> names(values_of<char>(data.names.chars));
  const device_array<int> visibility_offsets(values_of<int>(data.visibilities.offsets));
  const device_array<char> visibilities(values_of<char>(data.visibilities.chars));
  const device_array<int> out_offsets(values_of<int>(expected.offsets));
  const device_array<int> bytes(static_cast<std::size_t>(rows), -1);
  const device_array<char> chars(values_of<char>(expected.chars).size(), '?');
  run(redact_in_registers, dim3(41), dim3(32), name_offsets.get(), names.get(), visibility_offsets.get(),
      visibilities.get(), rows, shift, bytes.get(), out_offsets.get(), chars.get());
  const std::vector<int> sizes = bytes.values();
  for (int row = 0; row < rows; ++row) {
    INFO("row " << row << ": " << data.names[row] << ", " << data.visibilities[row]);
    REQUIRE(sizes[static_cast<std::size_t>(row)] == std::ssize(expected[row]));
  }
  CHECK(chars.values() == values_of<char>(expected.chars));
}
