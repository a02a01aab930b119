// Clears its messages where it does not find its own mark, and takes those of the launch before where it
// does.
#include "tests/wrong/rolling/tile_totals.hpp"

namespace lab::rolling::wrong {
namespace {

constexpr std::uint64_t own_mark = 0x6d65737361676573u;
constexpr std::size_t mark_bytes = 256;

// Flags, and behind them what they announce.
std::size_t flag_bytes(std::int64_t tiles) {
  return static_cast<std::size_t>(tiles + 63) / 64 * 64 * sizeof(unsigned);
}
template <class State>
windows::tile_messages<State> messages_at(unsigned char* begin, std::int64_t tiles) {
  if constexpr (std::is_same_v<State, double>) {
    auto* const words = reinterpret_cast<typename windows::tile_messages<State>::word*>(begin);
    return {words, words + tiles};
  } else {
    auto* const states = reinterpret_cast<State*>(begin + flag_bytes(tiles));
    return {reinterpret_cast<unsigned*>(begin), states, states + tiles};
  }
}

__global__ void clear_kernel(std::uint64_t* mark, unsigned char* messages, std::size_t bytes, int nothing) {
  const bool is_marked = *mark == own_mark;
  __syncthreads();
  if (threadIdx.x == 0) *mark = own_mark;
  if (is_marked) return;
  for (std::size_t k = threadIdx.x; k < bytes; k += blockDim.x)
    messages[k] = static_cast<unsigned char>(nothing);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n == 0) return;
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    using state = typename Operation::state;
    const std::int64_t tiles = total_tiles(in.n);
    auto* const begin = static_cast<unsigned char*>(scratch.data) + mark_bytes;
    // A number is nothing where all its bits are set, a flag where none is.
    constexpr int nothing = std::is_same_v<state, double> ? 0xff : 0;
    const std::size_t bytes = flag_bytes(tiles) + 2 * static_cast<std::size_t>(tiles) * sizeof(state);
    lab::launch(clear_kernel, dim3(1), dim3(block_threads), 0, stream,
                static_cast<std::uint64_t*>(scratch.data), begin, bytes, nothing);
    lab::launch(totals_kernel<right_totals, Operation>, dim3(static_cast<unsigned>(tiles)),
                dim3(block_threads), 0, stream, out.results, in.n, messages_at<state>(begin, tiles),
                task<Operation>{operation, in.values, 0, in.window, in.min_periods});
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "messages of before",
                                        .launch = launch,
                                        .workspace_bytes =
                                            [](const problem::parameters& p) {
                                              return mark_bytes + flag_bytes(total_tiles(p.n)) +
                                                     totals_bytes(p);
                                            },
                                        .tile = total_tile}};

}  // namespace
}  // namespace lab::rolling::wrong
