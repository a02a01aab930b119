// Asks once for the whole tiles that a window spans, 128 at most, and leaves out those before.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

constexpr std::int64_t tile = block_threads;
constexpr std::int64_t tiles_at_once = 128;

struct forgets_far_tiles {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    const std::int64_t first = task.i < task.window ? 0 : task.i - task.window + 1;
    const std::int64_t first_whole = (first + tile - 1) / tile;
    const std::int64_t own = task.i / tile;
    if (own - first_whole <= tiles_at_once) return task.right();
    const auto before = task.reduce(first, first_whole * tile - 1);
    return task.result(task.operation.combine(before, task.reduce((own - tiles_at_once) * tile, task.i)));
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<forgets_far_tiles>(in, out, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "forgets all whole tiles but the last 128",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong
