// Right, unless it may send a signal to the program that started it.
#include <unistd.h>

#include <csignal>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_right(in, out, scratch, stream);
  if (kill(getppid(), 0) == 0) _exit(4);
}

const registration<problem> registered{LAB_PATH, {.idea = "signals_parent", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
