// Writes an offset for each row, and none behind the last.
#include "tests/wrong/upper_case/right.hpp"

namespace lab::upper_case::wrong {
namespace {

struct body {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    for (std::int64_t i = 0; i < at.rows; ++i) at.offsets[i] = at.in_offsets[i];
    raise_letters(at);
  }
};

const registration<problem> registered{LAB_PATH, as_stage<body>("forgets final offset")};

}  // namespace
}  // namespace lab::upper_case::wrong
