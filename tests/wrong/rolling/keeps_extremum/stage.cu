// Keeps a minimum or maximum that has left the window, until the thread ends.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

struct keeps_extremum {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    if constexpr (std::is_same_v<Operation, windows::extremum>) {
      const std::int64_t first = first_of_turn(task.i) - task.window + 1;
      return task.result(task.reduce(first < 0 ? 0 : first, task.i));
    } else {
      return task.right();
    }
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<keeps_extremum>(in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "keeps the extremum",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong
