// No block tells another anything: an average forgets. Each block has a long stripe of the array, and begins
// with what lies before it: tile by tile backwards, until what came before has decayed to 2^-106 (so that
// even a value of 2^53 among values of 1 is within rounding). Along the stripe the state stays in registers.
#include "common/multiprocessors.hpp"
#include "stages/ewm/tile_scan.hpp"

namespace lab::ewm::warm_start {
namespace {

constexpr int block_threads = 128;
constexpr int forgotten_bits = 106;

// Values of a thread, and blocks on a multiprocessor: what their registers leave room for, beside the next
// tile's values.
template <class Operation>
constexpr int per_thread = 15;
template <class Operation>
constexpr int blocks_per_multiprocessor = 7;
template <>
constexpr int per_thread<recursive_mean> = 23;
template <>
constexpr int blocks_per_multiprocessor<recursive_mean> = 4;
template <class Operation>
constexpr int tile_outputs = block_threads* per_thread<Operation>;

template <class Operation>
__global__ void __launch_bounds__(block_threads, blocks_per_multiprocessor<Operation>)
    average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                   std::int64_t stripe, std::int64_t warm_up, Operation operation) {
  using scans = tile_scan<Operation, block_threads, per_thread<Operation>>;
  constexpr int outputs = scans::tile;
  __shared__ typename scans::shared_state shared;
  scans tile(shared, operation);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * stripe;

  // Runs combine in any grouping, so earlier tiles can be put before later ones. What decays is counted in
  // values that are present: a gap forgets nothing.
  typename Operation::state before = operation.identity();
  for (std::int64_t start = first - outputs; start >= 0 && before.values < warm_up; start -= outputs) {
    tile.load(values, start, n);
    before = operation.combine(tile.scan().total, before);
  }
  const std::int64_t end = first + stripe < n ? first + stripe : n;
  // The next tile's values are on their way while the current one is computed.
  double next[per_thread<Operation>];
  tile.fetch(next, values, first, end);
  for (std::int64_t start = first; start < end; start += outputs) {
    tile.fill(next);
    tile.fetch(next, values, start + outputs, end);
    const auto [in_tile, total] = tile.scan();
    tile.store(operation.combine(before, in_tile), averages, start, n);
    before = operation.combine(before, total);
  }
}

template <class Operation>
void launch_one(const Operation& operation, const input& in, const output& out, cudaStream_t stream) {
  constexpr std::int64_t tile = tile_outputs<Operation>;
  const std::int64_t forgotten = problem::values_to_decay(in.decay, forgotten_bits);
  const std::int64_t tiles = (in.n + tile - 1) / tile;
  const std::int64_t most_blocks = std::int64_t{blocks_per_multiprocessor<Operation>} * multiprocessors();
  // No shorter than its warm-up, which would otherwise be most of the work.
  const std::int64_t warm_up_tiles = std::min(tiles, (forgotten + tile - 1) / tile);
  const std::int64_t stripe_tiles =
      std::max({std::int64_t{1}, (tiles + most_blocks - 1) / most_blocks, warm_up_tiles});
  const auto blocks = static_cast<unsigned>((tiles + stripe_tiles - 1) / stripe_tiles);
  // An average also knows how many values there were.
  const std::int64_t warm_up = std::max(forgotten, in.min_periods);
  lab::launch(average_kernel<Operation>, dim3(blocks), dim3(block_threads), 0, stream, in.values,
              out.averages, in.n, stripe_tiles * tile, warm_up, operation);
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.n == 0) return;
  with_operation(in, [&](const auto& operation) { launch_one(operation, in, out, stream); });
}

// The block depends on the device: it has more or fewer stripes.
owner owner_of(const problem::parameters& p, std::int64_t index) {
  const auto thread_of = [index]<class Operation>(const Operation&) {
    return std::to_string(index % tile_outputs<Operation> / per_thread<Operation>);
  };
  std::string thread;
  with_operation(problem::bind_input(p, nullptr),
                 [&](const auto& operation) { thread = thread_of(operation); });
  return {"", thread};
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "stripes that begin early: no block waits for another",
                                        .launch = launch,
                                        .tile = tile_outputs<weighted_mean>,
                                        .owner_of = owner_of}};

}  // namespace
}  // namespace lab::ewm::warm_start
