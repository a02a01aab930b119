// Leaves every window incomplete that does not hold all its values, whatever min-periods says.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

struct right_output {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    return task.right();
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  input whole = in;
  whole.min_periods = in.window;
  launch_over_outputs<right_output>(whole, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "ignores min-periods",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong
