// Stops the whole process and never goes on.
#include <csignal>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_right(in, out, scratch, stream);
  std::raise(SIGSTOP);
}

const registration<problem> registered{LAB_PATH, {.idea = "stops_itself", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
