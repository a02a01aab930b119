// Compares seven bits of each byte.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

struct seven_bits : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    char text[6] = {};
    for (Offset k = 0; k < bytes && k < 6; ++k) text[k] = static_cast<char>(visibility[k] & 0x7f);
    return bytes == 6 && is_public(text, bytes);
  }
};

const registration<problem> registered{
    LAB_PATH,
    {.idea = "seven bits",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<seven_bits>(in, resource, stream); },
     .tile = block_threads,
     .owner_of = consecutive_owner<block_threads, 1, problem::parameters>,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
