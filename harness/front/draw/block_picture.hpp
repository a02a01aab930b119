// A block's phases between barriers: which of its threads ask something of memory, and by which line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/accesses.hpp"
#include "harness/front/draw/warp_picture.hpp"

namespace lab::front {

// Phases [first, first + length) that the block goes through `times` times, doing the same.
struct phase_loop {
  std::size_t first = 0;
  std::size_t length = 1;
  std::size_t times = 1;
};

// All phases in their order, the repeated ones folded.
[[nodiscard]] std::vector<phase_loop> folded(const std::vector<std::vector<activity_record>>& phases);

// An SVG document.
[[nodiscard]] std::string block_picture(const picture_heading& heading, const accesses_record& accesses);

// "block 0, one of 98, 1024 threads: 12 phases between barriers"
[[nodiscard]] std::string block_text(const accesses_record& accesses);

}  // namespace lab::front
