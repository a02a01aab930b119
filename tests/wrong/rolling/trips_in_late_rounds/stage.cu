// Running blocks whose ring is whole for eight rounds: from the ninth tile of a block on, in windows that
// span tiles, the newest tile has not arrived when it is read.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

constexpr std::int64_t tile = 2048;
constexpr std::int64_t running_blocks = 264;
constexpr std::int64_t whole_rounds = 8;

struct trips_in_late_rounds {
  template <class Operation>
  __device__ static double output(const task<Operation>& task) {
    const std::int64_t round = task.i / tile / running_blocks;
    if (round < whole_rounds || task.window < 2 * tile) return task.right();
    return task.result(task.state_at(task.i - tile));
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<trips_in_late_rounds>(in, out, stream);
}

// The emulator's trials have fewer tiles: there it is right.
const registration<problem> registered{LAB_PATH,
                                       {.idea = "reads the newest tile too soon in late rounds",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::rolling::wrong
