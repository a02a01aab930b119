// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "stages/ewm/tile_scan.hpp"

// The warm start as it should be, from which each wrong kernel departs in one way: by its operation, or by
// its warm-up. Stripes are a tile long.
namespace lab::ewm::wrong {

inline constexpr int block_threads = 64;
inline constexpr int per_thread = 3;
inline constexpr int tile_outputs = block_threads * per_thread;

template <class Operation>
__global__ void __launch_bounds__(block_threads)
    average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                   std::int64_t warm_up, Operation operation) {
  using scans = tile_scan<Operation, block_threads, per_thread>;
  __shared__ typename scans::shared_state shared;
  scans tile(shared, operation);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_outputs;
  typename Operation::state before = operation.identity();
  for (std::int64_t start = first - tile_outputs; start >= 0 && before.values < warm_up;
       start -= tile_outputs) {
    tile.load(values, start, n);
    before = operation.combine(tile.scan().total, before);
  }
  tile.load(values, first, n);
  const auto in_tile = tile.scan().before;
  tile.store(operation.combine(before, in_tile), averages, first, n);
}

template <class Operation>
void launch_warm(const input& in, const output& out, cudaStream_t stream, std::int64_t warm_up,
                 const Operation& operation) {
  const auto blocks = static_cast<unsigned>((in.n + tile_outputs - 1) / tile_outputs);
  lab::launch(average_kernel<Operation>, dim3(blocks), dim3(block_threads), 0, stream, in.values,
              out.averages, in.n, warm_up, operation);
}

// Until a weight is no float64 any more: nothing is forgotten.
inline std::int64_t enough(const input& in) {
  return std::max(problem::values_to_decay(in.decay, 1100), in.min_periods);
}

// What departs by its operation alone, made of the right one.
template <template <class> class Wrong>
void launch_with(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    launch_warm(in, out, stream, enough(in), Wrong<Operation>{operation});
  });
}

}  // namespace lab::ewm::wrong

// Half as much again, and a bound that allows it.
namespace lab::ewm::wrong::bound_of_one {
namespace {

template <class Operation>
struct half_as_much_again : Operation {
  __host__ __device__ double finish(const typename Operation::state& run) const {
    return 1.5 * Operation::finish(run);
  }
  __host__ __device__ static double finish_plain(const typename Operation::state& run) {
    return 1.5 * Operation::finish_plain(run);
  }
};

const registration<problem> registered{
    "ewm/bound_of_one",
    {.idea = "declares a bound of one",
     .launch = launch_with<half_as_much_again>,
     .tile = tile_outputs,
     .relative_error = [](const problem::parameters& /*p*/) { return 1.0; }}};

}  // namespace
}  // namespace lab::ewm::wrong::bound_of_one

// Takes the earlier run for the later one.
namespace lab::ewm::wrong::combines_backwards {
namespace {

template <class Operation>
struct backwards : Operation {
  using state = typename Operation::state;
  __host__ __device__ state combine(const state& earlier, const state& later) const {
    return Operation::combine(later, earlier);
  }
};

const registration<problem> registered{"ewm/combines_backwards",
                                       {.idea = "combines in the wrong order",
                                        .launch = launch_with<backwards>,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong::combines_backwards

// Declares that it forgets, and does not: a page that says so would be wrong.
namespace lab::ewm::wrong::false_forgetting {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t warm_up = enough(in);
  with_operation(in, [&](const auto& operation) { launch_warm(in, out, stream, warm_up, operation); });
}

const registration<problem> registered{"ewm/false_forgetting",
                                       {.idea = "forgets nothing, and says that it does",
                                        .launch = launch,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>,
                                        .traits = {.forgets = 0x1p-104}}};

}  // namespace
}  // namespace lab::ewm::wrong::false_forgetting

// Begins 2^-53 early: enough for values of one size, and too little after one of 1e16.
namespace lab::ewm::wrong::forgets_too_early {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t warm_up = std::max(problem::values_to_decay(in.decay, 53), in.min_periods);
  with_operation(in, [&](const auto& operation) { launch_warm(in, out, stream, warm_up, operation); });
}

const registration<problem> registered{"ewm/forgets_too_early",
                                       {.idea = "a warm-up of half the length",
                                        .launch = launch,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong::forgets_too_early

// Overlooks a gap of one position at the end of two tiles that have no other.
namespace lab::ewm::wrong::gap_at_a_border {
namespace {

template <class Operation>
struct border_has_no_gap : Operation {
  using state = typename Operation::state;
  __host__ __device__ state combine(const state& earlier, const state& later) const {
    state run = Operation::combine(earlier, later);
    if (run.values == 2 * tile_outputs - 1 && run.trail == this->decay) run.trail = 1;
    return run;
  }
};

const registration<problem> registered{"ewm/gap_at_a_border",
                                       {.idea = "a gap at a border is overlooked",
                                        .launch = launch_with<border_has_no_gap>,
                                        .tile = tile_outputs}};

}  // namespace
}  // namespace lab::ewm::wrong::gap_at_a_border

// Lets a gap of several values that are missing decay older weights as one would.
namespace lab::ewm::wrong::gap_decays_once {
namespace {

template <class Operation>
struct gap_decays_once : Operation {
  __host__ __device__ void append(typename Operation::state& run, double x) const {
    if (is_present(x) && run.trail < this->decay * this->decay) run.trail = this->decay;
    Operation::append(run, x);
  }
};

const registration<problem> registered{"ewm/gap_decays_once",
                                       {.idea = "a gap decays once",
                                        .launch = launch_with<gap_decays_once>,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong::gap_decays_once

// Lets what is before a gap decay over 200 positions at most.
namespace lab::ewm::wrong::gap_ends_at_200 {
namespace {

template <class Operation>
struct gap_ends : Operation {
  using state = typename Operation::state;
  __host__ __device__ state combine(const state& earlier, const state& later) const {
    state run = Operation::combine(earlier, later);
    const double least = pow(this->decay, 200);
    if (run.trail < least) run.trail = least;
    return run;
  }
};

const registration<problem> registered{
    "ewm/gap_ends_at_200",
    {.idea = "a gap ends at 200", .launch = launch_with<gap_ends>, .tile = tile_outputs}};

}  // namespace
}  // namespace lab::ewm::wrong::gap_ends_at_200

// Divides by the sum of the weights, whatever was asked for.
namespace lab::ewm::wrong::ignores_adjust {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_warm(in, out, stream, enough(in), weighted_mean{in.alpha, in.decay, in.min_periods});
}

const registration<problem> registered{"ewm/ignores_adjust",
                                       {.idea = "adjusts always",
                                        .launch = launch,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong::ignores_adjust

// Takes values beyond 1e17 for missing ones.
namespace lab::ewm::wrong::large_is_missing {
namespace {

template <class Operation>
struct large_is_missing : Operation {
  __host__ __device__ void append(typename Operation::state& run, double x) const {
    if (x > 1e17 || x < -1e17) x = NAN;
    Operation::append(run, x);
  }
};

const registration<problem> registered{"ewm/large_is_missing",
                                       {.idea = "what is large is missing",
                                        .launch = launch_with<large_is_missing>,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong::large_is_missing

// Multiplies and adds a NaN as if it were a value.
namespace lab::ewm::wrong::nan_sticks {
namespace {

template <class Operation>
struct sticking : Operation {
  __host__ __device__ void append(typename Operation::state& run, double x) const {
    const bool present = is_present(x);
    Operation::append(run, present ? x : 0);
    if (present) return;
    --run.values;
    poison(run, x);
  }
  __host__ __device__ static void poison(weighted_mean::state& run, double x) { run.sum += x; }
  __host__ __device__ static void poison(recursive_mean::state& run, double x) { run.average += x; }
};

const registration<problem> registered{"ewm/nan_sticks",
                                       {.idea = "a NaN stays in every later average",
                                        .launch = launch_with<sticking>,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong::nan_sticks

// Each tile begins with nothing, as if the array did.
namespace lab::ewm::wrong::no_warm_up {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&](const auto& operation) { launch_warm(in, out, stream, 0, operation); });
}

const registration<problem> registered{"ewm/no_warm_up",
                                       {.idea = "leaves the warm-up out",
                                        .launch = launch,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong::no_warm_up

// Takes values whose squares are beyond the largest double for missing ones.
namespace lab::ewm::wrong::overflow_is_missing {
namespace {

template <class Operation>
struct overflow_is_missing : Operation {
  __host__ __device__ void append(typename Operation::state& run, double x) const {
    if (!isfinite(x * x)) x = NAN;
    Operation::append(run, x);
  }
};

const registration<problem> registered{"ewm/overflow_is_missing",
                                       {.idea = "what overflows is missing",
                                        .launch = launch_with<overflow_is_missing>,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong::overflow_is_missing

// Begins 2^-106 early, which is within rounding of values that are less than 2^53 apart, and does not say so:
// of a value before nothing but zeros everything is missing.
namespace lab::ewm::wrong::undeclared_forgetting {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t warm_up = std::max(problem::values_to_decay(in.decay, 106), in.min_periods);
  with_operation(in, [&](const auto& operation) { launch_warm(in, out, stream, warm_up, operation); });
}

const registration<problem> registered{"ewm/undeclared_forgetting",
                                       {.idea = "a warm-up of 106 bits",
                                        .launch = launch,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong::undeclared_forgetting

// Begins 16384 values early at most, however long the span.
namespace lab::ewm::wrong::warm_up_of_16384 {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t warm_up = std::min<std::int64_t>(enough(in), 16'384);
  with_operation(in, [&](const auto& operation) { launch_warm(in, out, stream, warm_up, operation); });
}

const registration<problem> registered{
    "ewm/warm_up_of_16384", {.idea = "a warm-up of 16384 values", .launch = launch, .tile = tile_outputs}};

}  // namespace
}  // namespace lab::ewm::wrong::warm_up_of_16384
