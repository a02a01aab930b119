// Where NaN is skipped, divides the sum by the window, and not by the number of values that are there.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

struct divides_by_window {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    if constexpr (std::is_same_v<Operation, windows::skipping<windows::total>>) {
      const auto all = task.state_at(task.i);
      return all.count < task.min_periods ? incomplete
                                          : task.operation.operation.finish(all.of_values, task.window);
    } else {
      return task.right();
    }
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<divides_by_window>(in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "divides by the window",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong
