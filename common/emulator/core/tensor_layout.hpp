// How a tensor of one to five dimensions lies in global memory, and the box of it that one tensor copy
// moves; with the rules of cuTensorMapEncodeTiled (CUDA driver API, "Tensor Map Object Management") in words.
// Dimension 0 is the innermost, whose elements lie side by side. The same on a GPU.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#if LAB_EMULATED
#include "common/emulator/core/dialect.hpp"
#endif

namespace lab {

// Of a tile in shared memory: within lines of 128 bytes, 16-byte chunks change places so that rows of 32, 64
// or 128 bytes begin in different banks. `none` leaves the box as it is.
enum class swizzle : unsigned { none = 0, bytes_32 = 32, bytes_64 = 64, bytes_128 = 128 };

// Where the byte at `offset` of the tile goes. The tile begins at a multiple of swizzle_alignment().
__host__ __device__ constexpr unsigned swizzled(swizzle pattern, unsigned offset) {
  // Bits 4, 4 to 5 or 4 to 6, which count chunks, XOR those from bit 7 on, which count lines.
  const unsigned chunks = pattern == swizzle::none ? 0 : static_cast<unsigned>(pattern) - 16;
  return offset ^ (offset >> 3 & chunks);
}
// The bytes behind which the pattern repeats; without one 128, as a tensor copy needs.
__host__ __device__ constexpr unsigned swizzle_alignment(swizzle pattern) {
  return pattern == swizzle::none ? 128 : 8 * static_cast<unsigned>(pattern);
}

// Which dimension of a factor's tile has neighbours side by side: k, which is summed over, or the other one.
enum class major { k, mn };

struct tensor_layout {
  static constexpr std::size_t most_dimensions = 5;

  void* global = nullptr;
  unsigned rank = 0;
  unsigned element_bytes = 0;
  swizzle pattern = swizzle::none;
  std::array<std::uint64_t, most_dimensions> sizes{1, 1, 1, 1, 1};  // elements
  std::array<std::uint64_t, most_dimensions> strides{};             // bytes from one element to the next
  std::array<std::uint32_t, most_dimensions> box{1, 1, 1, 1, 1};    // elements

  [[nodiscard]] std::size_t box_bytes() const {
    return std::size_t{box[0]} * box[1] * box[2] * box[3] * box[4] * element_bytes;
  }
};

// `strides` count elements; the first one is 1.
template <class T, std::size_t rank>
tensor_layout make_tensor_layout(const T* global, const std::int64_t (&sizes)[rank],
                                 const std::int64_t (&strides)[rank], const int (&box)[rank],
                                 swizzle pattern) {
  static_assert(rank <= tensor_layout::most_dimensions, "tensors of one to five dimensions");
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                "elements of 1, 2, 4 or 8 bytes");
  tensor_layout layout;
  layout.global = const_cast<T*>(global);
  layout.rank = rank;
  layout.element_bytes = sizeof(T);
  layout.pattern = pattern;
  for (std::size_t k = 0; k < rank; ++k) {
    layout.sizes[k] = static_cast<std::uint64_t>(sizes[k]);
    layout.strides[k] = static_cast<std::uint64_t>(strides[k]) * sizeof(T);
    layout.box[k] = static_cast<std::uint32_t>(box[k]);
  }
  return layout;
}

// Throws std::invalid_argument where no tensor map can be made.
inline void check(const tensor_layout& layout) {
  constexpr std::uint64_t unit = 16, most_elements = std::uint64_t{1} << 32,
                          most_stride = std::uint64_t{1} << 40;
  constexpr std::uint32_t most_in_box = 256;
  const auto refuse = [](const std::string& what) { throw std::invalid_argument("tensor map: " + what); };
  if (reinterpret_cast<std::uintptr_t>(layout.global) % unit != 0)
    refuse("the tensor begins at an address that is no multiple of 16");
  for (std::size_t k = 0; k < layout.rank; ++k) {
    const std::string of = " of dimension " + std::to_string(k);
    if (layout.sizes[k] == 0 || layout.sizes[k] > most_elements)
      refuse("the size" + of + " is " + std::to_string(layout.sizes[k]) + ", which is not from 1 to 2^32");
    if (layout.box[k] == 0 || layout.box[k] > most_in_box)
      refuse("the box has " + std::to_string(layout.box[k]) + " elements" + of +
             ", which is not from 1 to 256");
    if (k == 0 && layout.strides[0] != layout.element_bytes)
      refuse("the stride of dimension 0 is not one element");
    if (k > 0 && (layout.strides[k] % unit != 0 || layout.strides[k] >= most_stride))
      refuse("the stride" + of + " is " + std::to_string(layout.strides[k]) +
             " bytes, which is no multiple of 16 below 2^40");
  }
  const std::uint32_t inner = layout.box[0] * layout.element_bytes;
  if (inner % unit != 0)
    refuse("the box is " + std::to_string(inner) + " bytes wide, which is no multiple of 16");
  // Narrower ones are allowed; where their rows begin is not said.
  if (layout.pattern != swizzle::none && inner != static_cast<unsigned>(layout.pattern))
    refuse("the box is " + std::to_string(inner) + " bytes wide, and swizzled in " +
           std::to_string(static_cast<unsigned>(layout.pattern)));
}

}  // namespace lab
