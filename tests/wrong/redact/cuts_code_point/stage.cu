// Takes the last name's first byte for its first character.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

struct first_byte : right {
  template <class Offset>
  static __device__ name_parts<Offset> parts(const char* name, Offset bytes) {
    name_parts<Offset> found = split(name, bytes);
    if (found.initial_bytes > 1) found.initial_bytes = 1;
    return found;
  }
};

const registration<problem> registered{
    LAB_PATH,
    {.idea = "cuts a code point",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<first_byte>(in, resource, stream); },
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
