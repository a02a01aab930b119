// Begins 2^-53 early: enough for values of one size, and too little after one of 1e16.
#include "tests/wrong/ewm/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t warm_up = std::max(problem::values_to_decay(in.decay, 53), in.min_periods);
  with_operation(in, [&](const auto& operation) { launch_warm(in, out, stream, warm_up, operation); });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a warm-up of half the length",
                                        .launch = launch,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong
