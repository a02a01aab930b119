// Does not give a temporary back.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  resource.allocate(1000, stream);
  return launch_two_pass<right>(in, resource, stream);
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "keeps memory", .launch = launch, .tile = block_threads, .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
