// Writes a byte behind the output's last one.
#include "tests/wrong/upper_case/right.hpp"

namespace lab::upper_case::wrong {
namespace {

struct body {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    raise_letters(at);
    at.chars[at.bytes] = 'X';
  }
};

const registration<problem> registered{LAB_PATH, as_stage<body>("writes beyond")};

}  // namespace
}  // namespace lab::upper_case::wrong
