// Begins 16384 values early at most, however long the span.
#include "tests/wrong/ewm/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t warm_up = std::min<std::int64_t>(enough(in), 16'384);
  with_operation(in, [&](const auto& operation) { launch_warm(in, out, stream, warm_up, operation); });
}

const registration<problem> registered{
    LAB_PATH, {.idea = "a warm-up of 16384 values", .launch = launch, .tile = tile_outputs}};

}  // namespace
}  // namespace lab::ewm::wrong
