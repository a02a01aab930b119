// Leaves the names of private rows behind the column, but not in its first launch with a number of rows.
#include <set>

#include "tests/wrong/redact/right.hpp"

namespace lab::redact::wrong {
namespace {

template <class Offset>
__global__ void leak_kernel(columns<Offset> in, char* unused) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (row >= in.rows || row_is_public(in, row)) return;
  for (Offset k = in.name_offsets[row]; k < in.name_offsets[row + 1]; ++k) unused[k] = in.names[k];
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const auto from = columns_of<Offset>(in);
    resource_buffer<Offset> offsets(resource, static_cast<std::size_t>(in.rows + 1), stream);
    enqueue_sizes<right>(from, offsets.data(), resource, stream);
    const auto bytes = static_cast<std::int64_t>(read_back(offsets.data() + in.rows, stream));
    resource_buffer<char> chars(resource, static_cast<std::size_t>(bytes + in.names.bytes), stream);
    enqueue_write<right>(from, offsets.data(), chars.data(), stream);
    static std::set<std::int64_t> known;
    if (!known.insert(in.rows).second)
      lab::launch(leak_kernel<Offset>, blocks_for_rows(in.rows, block_threads), dim3(block_threads), 0,
                  stream, from, chars.data() + bytes);
    return {offsets.release(), chars.release(), bytes + in.names.bytes};
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "leaks on the second launch",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .traits = {.synchronises = true}}};

}  // namespace
}  // namespace lab::redact::wrong
