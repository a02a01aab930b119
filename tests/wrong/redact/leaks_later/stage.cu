// Writes behind the column in its third launch on the same columns and in those after it.
#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

__global__ void write_kernel(char* unused) {
  *unused = 'x';
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const auto from = columns_of<Offset>(in);
    resource_buffer<Offset> offsets(resource, static_cast<std::size_t>(in.rows + 1), stream);
    enqueue_sizes<right>(from, offsets.data(), resource, stream);
    const auto bytes = static_cast<std::int64_t>(read_back(offsets.data() + in.rows, stream));
    resource_buffer<char> chars(resource, static_cast<std::size_t>(bytes + 1), stream);
    enqueue_write<right>(from, offsets.data(), chars.data(), stream);
    static const void* columns = nullptr;
    static int launches = 0;
    launches = columns == from.names ? launches + 1 : 0;
    columns = from.names;
    if (launches > 1) lab::launch(write_kernel, dim3(1), dim3(1), 0, stream, chars.data() + bytes);
    return {offsets.release(), chars.release(), bytes + 1};
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "leaks later", .launch = launch, .tile = block_threads, .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
