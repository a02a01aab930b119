// The track's wrong kernels, each to be refused for one mistake. One block scans tile after tile.
#include "common/bulk_copy.hpp"
#include "stages/scan/problem.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::scan::wrong {
namespace {

constexpr int tile = 256;

enum class mistake {
  missing_barrier,   // after a step
  one_buffer,        // a step replaces what another thread has still to read
  no_carry,          // each tile for itself
  carry_lags,        // without the last value of the tile before
  swapped_operands,  // the later value first
  always_inclusive,
  first_of_tile,  // an exclusive tile begins with the neutral element
  carry_in_32_bits,
  late_carry_in_32_bits,  // behind 20 000 values
  tail_left_out,
  no_wait  // for the bulk copy of a tile
};

template <mistake which, class T, class Operation>
__global__ void scan_kernel(const T* values, T* results, std::int64_t n, bool inclusive) {
  constexpr Operation combine{};
  alignas(16) __shared__ T buffers[2][tile];
  __shared__ mbarrier landed;
  const int thread = static_cast<int>(threadIdx.x);
  if (which == mistake::always_inclusive) inclusive = true;
  if (which == mistake::tail_left_out) n = n / 4 * 4;
  if (which == mistake::no_wait && thread == 0) {
    landed.initialise(1);
    fence_mbarrier_init();
  }
  T carry = Operation::identity();
  for (std::int64_t first = 0; first < n; first += tile) {
    const std::int64_t i = first + thread;
    int from = 0;
    if (which == mistake::no_wait && first + tile <= n) {
      if (thread == 0) copy_in(buffers[0], values + first, tile, landed);
    } else {
      buffers[0][thread] = i < n ? values[i] : Operation::identity();
    }
    __syncthreads();
    for (int distance = 1; distance < tile; distance *= 2) {
      const int to = which == mistake::one_buffer ? from : 1 - from;
      const T own = buffers[from][thread];
      const T earlier = thread >= distance ? buffers[from][thread - distance] : Operation::identity();
      buffers[to][thread] =
          which == mistake::swapped_operands ? combine(own, earlier) : combine(earlier, own);
      from = to;
      if (which != mistake::missing_barrier) __syncthreads();
    }
    const int last = inclusive ? thread : thread - 1;
    const T in_tile = last < 0 ? Operation::identity() : buffers[from][last];
    const bool is_alone = which == mistake::first_of_tile && last < 0;
    if (i < n) results[i] = is_alone ? in_tile : combine(carry, in_tile);
    if (which != mistake::no_carry)
      carry = combine(carry, buffers[from][which == mistake::carry_lags ? tile - 2 : tile - 1]);
    const bool is_cut =
        which == mistake::carry_in_32_bits || (which == mistake::late_carry_in_32_bits && first > 20'000);
    if (is_cut && sizeof(T) == 8) carry = static_cast<T>(static_cast<int>(carry));
    __syncthreads();
    if (which == mistake::no_wait && first + tile <= n) landed.wait(static_cast<unsigned>(first / tile));
  }
}

template <mistake which>
void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.n == 0) return;
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* results) {
    lab::launch(scan_kernel<which, T, Operation>, dim3(1), dim3(tile), 0, stream, values, results, in.n,
                in.inclusive);
  });
}

template <mistake which>
stage<problem> wrong_stage(const char* idea) {
  return {.idea = idea, .launch = launch<which>, .tile = tile};
}

// Room for the carries of 16 384 tiles, and no more. Without tiles, so that it soon comes there.
template <class T, class Operation>
__global__ void few_carries(const T* values, T* results, std::int64_t n, bool inclusive) {
  T before = Operation::identity();
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == 16'384 * tile) before = Operation::identity();
    const T all = Operation{}(before, values[i]);
    results[i] = inclusive ? all : before;
    before = all;
  }
}
WRONG(few_carries, failure_kind::wrong, on_emulator("wrong at index 4194304"),
      {.idea = "loses the carry behind 16384 tiles",
       .launch =
           [](const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
             with_types(in, out, [&]<class T, class Operation>(const T* values, T* results) {
               lab::launch(few_carries<T, Operation>, dim3(1), dim3(1), 0, stream, values, results, in.n,
                           in.inclusive);
             });
           },
       .tile = tile});
MISTAKE(missing_barrier, failure_kind::wrong, "wrong at index", "no barrier after a step");
MISTAKE(one_buffer, failure_kind::wrong, on_emulator("wrong at index"), "one buffer for both");
MISTAKE(no_carry, failure_kind::wrong, "wrong at index 256", "each tile for itself");
MISTAKE(carry_lags, failure_kind::wrong, "wrong at index", "carries all but the last value");
MISTAKE(swapped_operands, failure_kind::wrong, "wrong at index", "the later value first");
MISTAKE(always_inclusive, failure_kind::wrong, "kind=exclusive", "takes exclusive for inclusive");
MISTAKE(first_of_tile, failure_kind::wrong, "wrong at index 256", "no carry in a tile's first result");
MISTAKE(carry_in_32_bits, failure_kind::wrong, "wrong at index", "carries 32 bits");
MISTAKE(late_carry_in_32_bits, failure_kind::wrong, on_emulator("wrong at index"),
        "carries 32 bits, but not soon");
MISTAKE(tail_left_out, failure_kind::unwritten, "was never written", "scans whole vectors alone");
MISTAKE(no_wait, failure_kind::wrong, on_emulator("wrong at index"), "scans what has not landed");

}  // namespace
}  // namespace lab::scan::wrong
