// Each tile begins with nothing, as if the array did.
#include "tests/wrong/ewm/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&](const auto& operation) { launch_warm(in, out, stream, 0, operation); });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "leaves the warm-up out",
                                        .launch = launch,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong
