// Begins 2^-106 early, which is within rounding of values that are less than 2^53 apart, and does not say so:
// of a value before nothing but zeros everything is missing.
#include "tests/wrong/ewm/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t warm_up = std::max(problem::values_to_decay(in.decay, 106), in.min_periods);
  with_operation(in, [&](const auto& operation) { launch_warm(in, out, stream, warm_up, operation); });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a warm-up of 106 bits",
                                        .launch = launch,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong
