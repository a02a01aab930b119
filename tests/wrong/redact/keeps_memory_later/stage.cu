// Does not give a temporary back, but for its first two launches on the same columns.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  static const void* columns = nullptr;
  static int launches = 0;
  const void* const now = in.names.chars;
  launches = columns == now ? launches + 1 : 0;
  columns = now;
  if (launches > 1) resource.allocate(1000, stream);
  return launch_two_pass<right>(in, resource, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "keeps memory later",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
