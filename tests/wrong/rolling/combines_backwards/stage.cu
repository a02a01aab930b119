// Combines the later run with the earlier one, and not the earlier with the later.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

struct combines_backwards {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    auto all = task.operation.identity();
    const std::int64_t first = task.i < task.window ? 0 : task.i - task.window + 1;
    for (std::int64_t j = first; j <= task.i; ++j)
      all = task.operation.combine(task.operation.lift(task.values[j]), all);
    return task.result(all);
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<combines_backwards>(in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "combines backwards",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong
