// Hands out an offset for each row, and none behind the last.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  output made = launch_two_pass<right>(in, resource, stream);
  const std::size_t bytes = static_cast<std::size_t>(in.rows * in.offset_bits / 8);
  const std::size_t one = static_cast<std::size_t>(in.offset_bits / 8);
  resource_buffer<char> without(resource, bytes + one, stream);
  if (bytes > 0)
    CUDA_CHECK(cudaMemcpyAsync(without.data(), made.offsets, bytes, cudaMemcpyDeviceToDevice, stream));
  resource.deallocate(made.offsets, bytes + one, stream);
  made.offsets = without.release();
  return made;
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "forgets the final offset",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
