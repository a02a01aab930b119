// Shows a name whose visibility is "public" and the end of a line.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

struct line_of_public : right {
  template <class Offset>
  static __device__ bool shown(const char* visibility, Offset bytes) {
    if (is_public(visibility, bytes)) return true;
    return bytes == 8 && is_public(visibility, Offset{6}) && visibility[6] == '\r' && visibility[7] == '\n';
  }
};

const registration<problem> registered{
    LAB_PATH,
    {.idea = "an end of line behind \"public\" is overlooked",
     .launch = [](const input& in, memory_resource& resource,
                  cudaStream_t stream) { return launch_two_pass<line_of_public>(in, resource, stream); },
     .tile = block_threads,
     .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
