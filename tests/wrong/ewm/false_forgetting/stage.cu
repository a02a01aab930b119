// Declares that it forgets, and does not: a page that says so would be wrong.
#include "tests/wrong/ewm/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t warm_up = enough(in);
  with_operation(in, [&](const auto& operation) { launch_warm(in, out, stream, warm_up, operation); });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "forgets nothing, and says that it does",
                                        .launch = launch,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>,
                                        .traits = {.forgets = 0x1p-104}}};

}  // namespace
}  // namespace lab::ewm::wrong
