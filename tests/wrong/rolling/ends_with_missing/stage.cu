// Where NaN is skipped, still takes the window's very last value for the last one.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

struct ends_with_missing {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    const double last = task.values[task.i];
    const double right = task.right();
    if constexpr (std::is_same_v<Operation, windows::skipping<windows::first_minus_last>>) {
      if (right != incomplete && last != last) return last;
    }
    return right;
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<ends_with_missing>(in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "ends with what is missing",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong
