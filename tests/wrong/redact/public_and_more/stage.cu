// Takes "public" for public with whatever stands behind it.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

struct begins_public : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    return is_public(visibility, bytes == 7 ? 6 : bytes);
  }
};

const registration<problem> registered{
    LAB_PATH,
    {.idea = "public, and more",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<begins_public>(in, resource, stream); },
     .tile = block_threads,
     .owner_of = consecutive_owner<block_threads, 1, problem::parameters>,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
