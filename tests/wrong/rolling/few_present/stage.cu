// Takes a window in which nearly everything is missing for one in which everything is.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

struct few_present {
  template <class Operation>
  static __device__ double output(const task<Operation>& task) {
    std::int64_t present = 0;
    for (std::int64_t j = task.i < task.window ? 0 : task.i - task.window + 1; j <= task.i; ++j)
      present += task.values[j] == task.values[j] ? 1 : 0;
    return present > 0 && 64 * present < task.window && task.i >= task.window ? windows::incomplete
                                                                              : task.right();
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<few_present>(in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "few are none", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::rolling::wrong
