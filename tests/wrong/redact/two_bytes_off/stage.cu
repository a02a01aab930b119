// Takes a visibility of six bytes of which two are others for "public".
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

struct two_off : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    if (bytes != 6) return false;
    int off = 0;
    for (int k = 0; k < 6; ++k) off += visibility[k] != "public"[k] ? 1 : 0;
    return off == 0 || off == 2;
  }
};

const registration<problem> registered{
    LAB_PATH,
    {.idea = "two bytes off",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<two_off>(in, resource, stream); },
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
