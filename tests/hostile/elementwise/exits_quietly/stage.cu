// Ends the process with 0 in the middle of its verification.
#include <cstdlib>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_right(in, out, scratch, stream);
  std::exit(0);
}

const registration<problem> registered{LAB_PATH, {.idea = "exits_quietly", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
