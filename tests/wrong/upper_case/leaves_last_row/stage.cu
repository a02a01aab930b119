// Does not write the last row's characters.
#include "tests/wrong/upper_case/right.hpp"

namespace lab::upper_case::wrong {
namespace {

struct body {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    const std::int64_t end = at.rows == 0 ? 0 : at.in_offsets[at.rows - 1];
    for (std::int64_t i = 0; i < end; ++i) at.chars[i] = upper(at.in_chars[i]);
  }
};

const registration<problem> registered{LAB_PATH, as_stage<body>("leaves last row")};

}  // namespace
}  // namespace lab::upper_case::wrong
