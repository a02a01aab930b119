// Looks at five of the six bytes of "public".
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

struct five_bytes : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    return bytes == 6 && visibility[0] == 'p' && visibility[2] == 'b' && visibility[3] == 'l' &&
           visibility[4] == 'i' && visibility[5] == 'c';
  }
};

const registration<problem> registered{
    LAB_PATH,
    {.idea = "nearly public",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<five_bytes>(in, resource, stream); },
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
