// One pass: a block that has redacted its rows in shared memory learns from its predecessors where they begin
// in the output (decoupled look-back), and writes them there. Nothing is read twice, and the host waits for
// nothing: the characters are allocated at the bound, which is known beforehand.
#include "common/nvtx.hpp"
#include "stages/redact/bounded_output.hpp"
#include "stages/redact/problem.hpp"
#include "stages/redact/single_pass.hpp"

namespace lab::redact::single_pass {
namespace {

constexpr int blocks_per_multiprocessor = 6;

template <class Offset>
__global__ void __launch_bounds__(tile_threads, blocks_per_multiprocessor)
    redact_kernel(columns<Offset> in, int tile_rows, look_back_word* words, Offset* offsets, char* chars) {
  redact_tile(in, tile_rows, words, offsets, chars);
}

output launch(const input& in, memory_resource& resource, cudaStream_t stream) {
  return with_offsets(in, [&]<class Offset>() -> output {
    const int tile_rows = tile_rows_of(in);
    const dim3 blocks = blocks_for_rows(std::max<std::int64_t>(in.rows, 1), tile_rows);
    const resource_buffer<look_back_word> words(resource, blocks.x, stream);
    bounded_output<Offset> out(in, resource, stream);
    const nvtx_range range("redact");
    CUDA_CHECK(cudaMemsetAsync(words.data(), 0, words.bytes(), stream));
    lab::launch(redact_kernel<Offset>, blocks, dim3(tile_threads), 0, stream, columns_of<Offset>(in),
                tile_rows, words.data(), out.offsets.data(), out.chars.data());
    return out.release();
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "one pass: a block learns from those before it where its rows begin",
     .launch = launch,
     .tile = max_tile_rows}};

}  // namespace
}  // namespace lab::redact::single_pass
