// Divides by the sum of the weights, whatever was asked for.
#include "tests/wrong/ewm/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_warm(in, out, stream, enough(in), weighted_mean{in.alpha, in.decay, in.min_periods});
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "adjusts always",
                                        .launch = launch,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong
