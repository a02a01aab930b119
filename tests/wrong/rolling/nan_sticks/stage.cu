// Has NaN in every output that a thread makes after one, also once it has left the window.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

struct nan_sticks {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    const double right = task.right();
    const std::int64_t first = first_of_turn(task.i) - task.window + 1;
    for (std::int64_t j = first < 0 ? 0 : first; j <= task.i - task.window; ++j) {
      if (task.values[j] != task.values[j] && right != incomplete) return NAN;
    }
    return right;
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<nan_sticks>(in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "NaN sticks",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong
