// Keeps the offsets of its output for the next columns of as many rows and bytes.
#include <vector>

#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

struct kept_offsets {
  std::int64_t rows = -1;
  std::int64_t name_bytes = 0;
  std::int64_t visibility_bytes = 0;
  int offset_bits = 0;
  std::vector<char> offsets;

  [[nodiscard]] bool are_of(const input& in) const {
    return rows == in.rows && name_bytes == in.names.bytes && visibility_bytes == in.visibilities.bytes &&
           offset_bits == in.offset_bits;
  }
};
kept_offsets before;

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const auto from = columns_of<Offset>(in);
    resource_buffer<Offset> offsets(resource, static_cast<std::size_t>(in.rows + 1), stream);
    const std::size_t all = static_cast<std::size_t>(in.rows + 1) * sizeof(Offset);
    if (before.are_of(in)) {
      CUDA_CHECK(cudaMemcpyAsync(offsets.data(), before.offsets.data(), all, cudaMemcpyHostToDevice, stream));
    } else {
      enqueue_sizes<right>(from, offsets.data(), resource, stream);
      before = {in.rows, in.names.bytes, in.visibilities.bytes, in.offset_bits, std::vector<char>(all)};
      CUDA_CHECK(cudaMemcpyAsync(before.offsets.data(), offsets.data(), all, cudaMemcpyDeviceToHost, stream));
    }
    const auto bytes = static_cast<std::int64_t>(read_back(offsets.data() + in.rows, stream));
    resource_buffer<char> chars(resource, static_cast<std::size_t>(bytes), stream);
    enqueue_write<right>(from, offsets.data(), chars.data(), stream);
    return {offsets.release(), chars.release(), bytes};
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "keeps the offsets of before",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
