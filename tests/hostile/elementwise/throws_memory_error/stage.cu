// Says that memory is lacking, of which there is enough.
#include "common/memory.hpp"
#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_right(in, out, scratch, stream);
  if (in.n > 500) throw memory_error(1000, 10);
}

const registration<problem> registered{LAB_PATH, {.idea = "throws_memory_error", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
