// Takes the variance for the mean of the squares less the square of the mean, which cancels.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

struct difference_of_squares {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    if constexpr (std::is_same_v<Operation, windows::moments>) {
      if (task.i + 1 < task.min_periods) return incomplete;
      double sum = 0;
      double squares = 0;
      const std::int64_t first = task.i < task.window ? 0 : task.i - task.window + 1;
      for (std::int64_t j = first; j <= task.i; ++j) {
        sum += task.values[j];
        squares += task.values[j] * task.values[j];
      }
      const auto count = static_cast<double>(task.i - first + 1);
      if (count < 2) return NAN;
      const double variance = (squares - sum * sum / count) / (count - 1);
      const double positive = variance < 0 ? 0 : variance;
      return task.operation.takes_root ? sqrt(positive) : positive;
    } else {
      return task.right();
    }
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<difference_of_squares>(in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "difference of squares",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong
