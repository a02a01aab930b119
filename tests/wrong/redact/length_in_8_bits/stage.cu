// Keeps a visibility's length in 8 bits: 262 bytes that begin with "public" are public.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

struct short_length : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    return is_public(visibility, static_cast<Offset>(bytes & 0xff));
  }
};

const registration<problem> registered{
    LAB_PATH,
    {.idea = "lengths in 8 bits",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<short_length>(in, resource, stream); },
     .tile = block_threads,
     .owner_of = consecutive_owner<block_threads, 1, problem::parameters>,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
