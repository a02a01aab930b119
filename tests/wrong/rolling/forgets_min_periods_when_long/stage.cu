// Asks for whole windows, whatever min-periods says, where the window is longer than a tile and is a minimum.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

struct whole_when_long {
  template <class Operation>
  static __device__ double output(const task<Operation>& task) {
    using extremum = windows::extremum;
    if constexpr (std::is_same_v<Operation, extremum>) {
      if (task.window > 200 && task.operation.sign_bits != 0 && task.i < task.window - 1)
        return windows::incomplete;
    }
    return task.right();
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<whole_when_long>(in, out, stream);
}

const registration<problem> registered{
    LAB_PATH, {.idea = "whole windows where they are long", .launch = launch, .tile = block_threads}};

}  // namespace
}  // namespace lab::rolling::wrong
