// Where NaN is skipped, is content with one value fewer than min-periods if that is neither 1 nor the window.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

struct one_too_few_present {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    if constexpr (requires { task.operation.operation; }) {
      std::int64_t present = 0;
      for (std::int64_t j = task.i < task.window ? 0 : task.i - task.window + 1; j <= task.i; ++j)
        present += task.values[j] == task.values[j] ? 1 : 0;
      const bool between = task.min_periods > 1 && task.min_periods < task.window;
      if (between && present == task.min_periods - 1) {
        auto content = task;
        content.min_periods = content.operation.min_periods = 1;
        return content.right();
      }
    }
    return task.right();
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<one_too_few_present>(in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "content with one value too few",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong
