// No block tells another anything: an average forgets. Each block has a long stripe of the array, and begins
// with what lies before it: tile by tile backwards, until what came before has decayed to 2^-106 (so that
// even a value of 2^53 among values of 1 is within rounding). Along the stripe the state stays in registers.
#include "common/multiprocessors.hpp"
#include "stages/ewm/tile_scan.hpp"

namespace lab::ewm::warm_start {
namespace {

constexpr int block_threads = 256;
constexpr int per_thread = 15;
constexpr int tile_outputs = block_threads * per_thread;  // 3840
constexpr int blocks_per_multiprocessor = 4;
constexpr int forgotten_bits = 106;

template <class Operation>
__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor)
    average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                   std::int64_t stripe, std::int64_t warm_up, Operation operation) {
  using scans = tile_scan<Operation, block_threads, per_thread>;
  __shared__ typename scans::shared_state shared;
  scans tile(shared, operation);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * stripe;

  // Runs combine in any grouping, so earlier tiles can be put before later ones. What decays is counted in
  // values that are present: a gap forgets nothing.
  typename Operation::state before = operation.identity();
  for (std::int64_t start = first - tile_outputs; start >= 0 && before.values < warm_up;
       start -= tile_outputs) {
    tile.load(values, start, n);
    before = operation.combine(tile.scan().total, before);
  }
  const std::int64_t end = first + stripe < n ? first + stripe : n;
  for (std::int64_t start = first; start < end; start += tile_outputs) {
    tile.load(values, start, n);
    const auto [in_tile, total] = tile.scan();
    tile.store(operation.combine(before, in_tile), averages, start, n);
    before = operation.combine(before, total);
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.n == 0) return;
  const std::int64_t forgotten = problem::values_to_decay(in.decay, forgotten_bits);
  const std::int64_t tiles = (in.n + tile_outputs - 1) / tile_outputs;
  const std::int64_t most_blocks = std::int64_t{blocks_per_multiprocessor} * multiprocessors();
  // No shorter than its warm-up, which would otherwise be most of the work.
  const std::int64_t warm_up_tiles = std::min(tiles, (forgotten + tile_outputs - 1) / tile_outputs);
  const std::int64_t stripe_tiles =
      std::max({std::int64_t{1}, (tiles + most_blocks - 1) / most_blocks, warm_up_tiles});
  const auto blocks = static_cast<unsigned>((tiles + stripe_tiles - 1) / stripe_tiles);
  // An average also knows how many values there were.
  const std::int64_t warm_up = std::max(forgotten, in.min_periods);
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    lab::launch(average_kernel<Operation>, dim3(blocks), dim3(block_threads), 0, stream, in.values,
                out.averages, in.n, stripe_tiles * tile_outputs, warm_up, operation);
  });
}

// The block depends on the device: it has more or fewer stripes.
owner owner_of(const problem::parameters& /*p*/, std::int64_t index) {
  return {"", std::to_string(index % tile_outputs / per_thread)};
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "stripes that begin early: no block waits for another",
                                        .launch = launch,
                                        .tile = tile_outputs,
                                        .owner_of = owner_of}};

}  // namespace
}  // namespace lab::ewm::warm_start
