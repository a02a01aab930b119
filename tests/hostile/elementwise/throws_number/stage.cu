// Throws what is no exception.
#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_right(in, out, scratch, stream);
  throw 42;
}

const registration<problem> registered{LAB_PATH, {.idea = "throws_number", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
