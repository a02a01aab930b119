// Writes a byte behind its scratch memory.
#include "tests/wrong/upper_case/right.hpp"

namespace lab::upper_case::wrong {
namespace {

struct body {
  template <class Offset>
  static __device__ void run(const pointers<Offset>& at) {
    copy_offsets(at);
    raise_letters(at);
    at.scratch[scratch_bytes] = 'X';
  }
};

const registration<problem> registered{LAB_PATH, as_stage<body>("writes beyond its workspace")};

}  // namespace
}  // namespace lab::upper_case::wrong
