// Takes z for no letter.
#include "tests/wrong/upper_case/right.hpp"

namespace lab::upper_case::wrong {
namespace {

struct body {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    for (std::int64_t i = 0; i < at.bytes; ++i)
      at.chars[i] = at.in_chars[i] == 'z' ? 'z' : upper(at.in_chars[i]);
  }
};

const registration<problem> registered{LAB_PATH, as_stage<body>("keeps z")};

}  // namespace
}  // namespace lab::upper_case::wrong
