// Right, but it leaves a thread that spins, and a handler that would never let the process end.
#include <unistd.h>
#include <cstdlib>
#include <thread>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

bool begun = false;

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_right(in, out, scratch, stream);
  if (begun) return;
  begun = true;
  std::atexit([] {
    for (;;) pause();
  });
  std::thread([] {
    for (;;) usleep(1000);
  }).detach();
}

const registration<problem> registered{LAB_PATH, {.idea = "lingers", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
