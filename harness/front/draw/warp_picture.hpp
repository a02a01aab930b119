// One access of a warp: its lanes against the sectors of global memory or the banks of shared memory.
#pragma once

#include <string>

#include "harness/accesses.hpp"

namespace lab::front {

// What stands above a picture.
struct picture_heading {
  std::string title;       // the stage
  std::string parameters;  // "n = 100000, window = 300"
};

// An SVG document. Throws std::invalid_argument where the record contradicts itself: its addresses make
// another number of sectors or wavefronts than it says.
[[nodiscard]] std::string warp_picture(const picture_heading& heading, const accesses_record& accesses,
                                       const request_record& request);

// The same in two lines of words: which access this is, and what it costs.
[[nodiscard]] std::string request_text(const accesses_record& accesses, const request_record& request);
[[nodiscard]] std::string cost_text(const request_record& request);

// "5 sectors", "1 sector"
[[nodiscard]] std::string counted(std::int64_t number, const std::string& noun);

}  // namespace lab::front
