// Reduces the window that ends one value earlier.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

struct off_by_one {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    return task.i < task.window ? task.right() : task.result(task.state_at(task.i - 1));
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<off_by_one>(in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "off by one",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong
