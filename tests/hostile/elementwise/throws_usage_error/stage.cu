// Throws what the harness throws of a bad request.
#include "harness/device/track.hpp"
#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

void launch(const input&, const output&, workspace, cudaStream_t) {
  throw usage_error("there is no such track");
}

const registration<problem> registered{LAB_PATH, {.idea = "throws_usage_error", .launch = launch}};

}  // namespace
}  // namespace lab::elementwise::hostile
