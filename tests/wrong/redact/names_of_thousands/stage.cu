// Takes a name of 1000 to 4000 bytes for one without a space.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

struct no_space_in_long : right {
  template <class Offset>
  static __device__ name_parts<Offset> parts(const char* name, Offset bytes) {
    if (bytes >= 1000 && bytes <= 4000) return {bytes, bytes, 0};
    return split(name, bytes);
  }
};

const registration<problem> registered{
    LAB_PATH,
    {.idea = "no space in names of thousands",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<no_space_in_long>(in, resource, stream); },
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
