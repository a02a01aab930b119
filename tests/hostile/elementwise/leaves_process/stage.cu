// Leaves a process behind that belongs to no group or session of its own.
#include <unistd.h>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

bool left = false;

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_right(in, out, scratch, stream);
  if (left) return;
  left = true;
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      for (;;) sleep(1000);
    }
    _exit(0);
  }
}

const registration<problem> registered{LAB_PATH, {.idea = "leaves_process", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
