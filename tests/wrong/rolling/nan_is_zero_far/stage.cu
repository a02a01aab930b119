// Takes NaN for 0, but only far from the beginning, where no small input reaches.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

struct nan_is_zero_far {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    if (task.i < 50'000) return task.right();
    auto all = task.operation.identity();
    for (std::int64_t j = task.i < task.window ? 0 : task.i - task.window + 1; j <= task.i; ++j) {
      const double value = task.values[j];
      all = task.operation.combine(all, task.operation.lift(value == value ? value : 0));
    }
    return task.result(all);
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<nan_is_zero_far>(in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "NaN is 0 far from the beginning",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong
