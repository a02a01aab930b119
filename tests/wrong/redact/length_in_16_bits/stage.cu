// Keeps a visibility's length in 16 bits: 65542 bytes that begin with "public" are public.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

struct half_length : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    return is_public(visibility, static_cast<Offset>(bytes & 0xffff));
  }
};

const registration<problem> registered{
    LAB_PATH,
    {.idea = "lengths in 16 bits",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<half_length>(in, resource, stream); },
     .tile = block_threads,
     .owner_of = consecutive_owner<block_threads, 1, problem::parameters>,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
