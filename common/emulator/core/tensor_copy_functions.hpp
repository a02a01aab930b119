// What common/tensor_copy.hpp is on the emulator. Copies are done when bulk copies are (block_copies.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/emulator/core/bulk_copy_functions.hpp"
#include "common/emulator/core/dialect.hpp"
#include "common/emulator/core/tensor_layout.hpp"

namespace lab {

struct tensor_map {
  tensor_layout layout;
};

inline tensor_map encode(const tensor_layout& layout) {
  check(layout);
  return {layout};
}

namespace emulator {

// A box of a tensor, and where it lies.
struct tensor_box {
  tensor_layout layout;
  std::array<std::int64_t, tensor_layout::most_dimensions> at{};

  enum class direction { in, out };

  // Calls visit(offset, global, bytes) for what each row of the box has of the tensor: its offset in a tile
  // that is not swizzled. A copy out ends at a multiple of 16 bytes of the tensor's row, as measured on an
  // H200.
  template <class Visit>
  void for_each_row(direction way, Visit visit) const {
    const auto element = static_cast<std::int64_t>(layout.element_bytes);
    const auto size = [this](std::size_t k) { return static_cast<std::int64_t>(layout.sizes[k]); };
    const std::int64_t unit = way == direction::out ? 16 / element : 1;
    const std::int64_t row_end = (size(0) + unit - 1) / unit * unit;
    const std::int64_t first = std::max<std::int64_t>(0, -at[0]);
    const std::int64_t last = std::min<std::int64_t>(layout.box[0], row_end - at[0]);
    if (at[0] + first >= size(0) || first >= last) return;
    const std::int64_t rows = std::int64_t{layout.box[1]} * layout.box[2] * layout.box[3] * layout.box[4];
    for (std::int64_t row = 0; row < rows; ++row) {
      bool is_inside = true;
      std::int64_t offset = (at[0] + first) * element;
      std::int64_t rest = row;
      for (std::size_t k = 1; k < tensor_layout::most_dimensions; ++k) {
        const std::int64_t index = at[k] + rest % layout.box[k];
        rest /= layout.box[k];
        is_inside = is_inside && index >= 0 && index < size(k);
        offset += index * static_cast<std::int64_t>(layout.strides[k]);
      }
      if (is_inside)
        visit(static_cast<std::size_t>((row * layout.box[0] + first) * element),
              static_cast<unsigned char*>(layout.global) + offset,
              static_cast<std::size_t>((last - first) * element));
    }
  }
  // The whole box to a tile of shared memory, and what the tensor has of it from there.
  void read_to(void* shared) const;
  void write_from(const void* shared) const;
};

// As copy_in_bulk().
void tensor_copy_in(void* shared, const tensor_box& box, unsigned dimensions, std::uint64_t* barrier,
                    std::optional<unsigned> blocks, place where);
void tensor_copy_out(const tensor_box& box, unsigned dimensions, const void* shared, place where);

}  // namespace emulator

template <class T>
__forceinline__ T* tensor_shared() {
  return reinterpret_cast<T*>(lab_dynamic_shared);
}

__forceinline__ void prefetch_tensor_map(const tensor_map&) {}

__forceinline__ void tensor_copy_in(void* shared, const tensor_map& map, int x, mbarrier& barrier,
                                    emulator::place where = emulator::place::here()) {
  emulator::tensor_copy_in(shared, {map.layout, {x}}, 1, &barrier.state, {}, where);
}
__forceinline__ void tensor_copy_out(const tensor_map& map, int x, const void* shared,
                                     emulator::place where = emulator::place::here()) {
  emulator::tensor_copy_out({map.layout, {x}}, 1, shared, where);
}
__forceinline__ void tensor_copy_in(void* shared, const tensor_map& map, int x, int y, mbarrier& barrier,
                                    emulator::place where = emulator::place::here()) {
  emulator::tensor_copy_in(shared, {map.layout, {x, y}}, 2, &barrier.state, {}, where);
}
__forceinline__ void tensor_copy_in_to_blocks(void* shared, const tensor_map& map, int x, int y,
                                              mbarrier& barrier, unsigned blocks,
                                              emulator::place where = emulator::place::here()) {
  emulator::tensor_copy_in(shared, {map.layout, {x, y}}, 2, &barrier.state, blocks, where);
}
__forceinline__ void tensor_copy_out(const tensor_map& map, int x, int y, const void* shared,
                                     emulator::place where = emulator::place::here()) {
  emulator::tensor_copy_out({map.layout, {x, y}}, 2, shared, where);
}
__forceinline__ void tensor_copy_in(void* shared, const tensor_map& map, int x, int y, int z,
                                    mbarrier& barrier, emulator::place where = emulator::place::here()) {
  emulator::tensor_copy_in(shared, {map.layout, {x, y, z}}, 3, &barrier.state, {}, where);
}
__forceinline__ void tensor_copy_out(const tensor_map& map, int x, int y, int z, const void* shared,
                                     emulator::place where = emulator::place::here()) {
  emulator::tensor_copy_out({map.layout, {x, y, z}}, 3, shared, where);
}

}  // namespace lab
