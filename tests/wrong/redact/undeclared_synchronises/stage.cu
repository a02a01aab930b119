// Waits for the device and does not say so.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return launch_two_pass<right>(in, resource, stream, room::exact);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "undeclared synchronises",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.synchronises = false}}};

}  // namespace
}  // namespace lab::redact::wrong
