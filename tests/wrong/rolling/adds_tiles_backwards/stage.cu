// Combines the whole tiles that a window spans from the last to the first; what lies on either side, in
// order.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

constexpr std::int64_t tile = 1664;  // longer than any stretch of `gaps` without a value

struct adds_tiles_backwards {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    const std::int64_t first = task.i < task.window ? 0 : task.i - task.window + 1;
    const std::int64_t first_whole = first / tile + 1;
    const std::int64_t own = task.i / tile;
    if (first_whole >= own) return task.right();
    auto all = task.reduce(first, first_whole * tile - 1);
    for (std::int64_t other = own - 1; other >= first_whole; --other)
      all = task.operation.combine(all, task.reduce(other * tile, other * tile + tile - 1));
    return task.result(task.operation.combine(all, task.reduce(own * tile, task.i)));
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<adds_tiles_backwards>(in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "combines whole tiles backwards",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong
