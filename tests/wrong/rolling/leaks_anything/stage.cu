// Declares that it leaks NaN, and where one is in the window answers 7.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

struct seven {
  template <class Operation>
  static __device__ double output(const task<Operation>& task) {
    const double right = task.right();
    const bool is_complete = task.i + 1 >= task.min_periods;
    return is_complete && right != right ? 7 : right;
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<seven>(in, out, stream);
}

std::string unsupported(const problem::parameters& p) {
  return problem::may_drift(p) ? "" : "it has no running sum of these";
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "leaks anything",
                                        .launch = launch,
                                        .unsupported = unsupported,
                                        .tile = block_threads,
                                        .traits = {.leaks_nonfinite = true}}};

}  // namespace
}  // namespace lab::rolling::wrong
