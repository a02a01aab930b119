// Declares that it waits for the device, and does not.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return launch_two_pass<right>(in, resource, stream, room::most);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "false synchronises",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
