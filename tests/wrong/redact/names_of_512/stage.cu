// Takes one byte less of a name where it has 512, or another power of two that is a buffer's length.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

struct one_byte_less : right {
  template <class Offset>
  static __device__ name_parts<Offset> parts(const char* name, Offset bytes) {
    return split(name, bytes == 512 || bytes == 1024 || bytes == 4096 ? bytes - 1 : bytes);
  }
};

const registration<problem> registered{
    LAB_PATH,
    {.idea = "names that fill a buffer lack their last byte",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<one_byte_less>(in, resource, stream); },
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
