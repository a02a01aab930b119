// Calls itself without an end.
#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

int deeper(volatile int* depth) {
  volatile int here = *depth + 1;
  return here == 0 ? 0 : deeper(&here) + here;  // 2^32 calls from here, as the compiler knows
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_right(in, out, scratch, stream);
  volatile int depth = 0;
  if (deeper(&depth) == 1) launch_right(in, out, scratch, stream);
}

const registration<problem> registered{LAB_PATH, {.idea = "overflows_stack", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
