// Forks in its launch, and both processes go on.
#include <unistd.h>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

bool forked = false;

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_right(in, out, scratch, stream);
  if (forked) return;
  forked = true;
  fork();
}

const registration<problem> registered{LAB_PATH, {.idea = "returns_twice", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
