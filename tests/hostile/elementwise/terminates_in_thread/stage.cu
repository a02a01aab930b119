// Throws in a thread of its own.
#include <stdexcept>
#include <thread>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_right(in, out, scratch, stream);
  std::thread([] { throw std::runtime_error("in a thread"); }).join();
}

const registration<problem> registered{LAB_PATH, {.idea = "terminates_in_thread", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
