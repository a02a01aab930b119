// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include "stages/ewm/tile_scan.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

// The warm start as it should be, from which each wrong kernel departs in one way: by its operation, or by
// its warm-up. Stripes are a tile long.

constexpr int block_threads = 64;
constexpr int per_thread = 3;
constexpr int tile_outputs = block_threads * per_thread;

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
std::int64_t enough(const input& in) {
  return std::max(problem::values_to_decay(in.decay, 1100), in.min_periods);
}

// What departs by its operation alone, made of the right one.
template <template <class> class Wrong>
void launch_with(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    launch_warm(in, out, stream, enough(in), Wrong<Operation>{operation});
  });
}

stage<problem> as_stage(const char* idea, launch_of<problem>::type launch) {
  return {.idea = idea,
          .launch = launch,
          .tile = tile_outputs,
          .owner_of = consecutive_owner<tile_outputs, per_thread>};
}

// Half as much again, and a bound that allows it.
template <class Operation>
struct bound_of_one : Operation {
  __host__ __device__ double finish(const typename Operation::state& run) const {
    return 1.5 * Operation::finish(run);
  }
  __host__ __device__ static double finish_plain(const typename Operation::state& run) {
    return 1.5 * Operation::finish_plain(run);
  }
};
WRONG(bound_of_one, std::nullopt, "relative_error answered 1, and may be at most",
      {.idea = "declares a bound of one",
       .launch = launch_with<bound_of_one>,
       .tile = tile_outputs,
       .relative_error = [](const problem::parameters& /*p*/) { return 1.0; }});

// Takes the earlier run for the later one.
template <class Operation>
struct combines_backwards : Operation {
  using state = typename Operation::state;
  __host__ __device__ state combine(const state& earlier, const state& later) const {
    return Operation::combine(later, earlier);
  }
};
STAGE(combines_backwards, as_stage("combines in the wrong order", launch_with<combines_backwards>));

// Declares that it forgets, and does not: a page that says so would be wrong. One block goes through all
// tiles, since every trial is made.
template <class Operation>
__global__ void __launch_bounds__(block_threads)
    in_order_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                    Operation operation) {
  using scans = tile_scan<Operation, block_threads, per_thread>;
  __shared__ typename scans::shared_state shared;
  scans tile(shared, operation);
  typename Operation::state before = operation.identity();
  for (std::int64_t first = 0; first < n; first += tile_outputs) {
    tile.load(values, first, n);
    const auto found = tile.scan();
    tile.store(operation.combine(before, found.before), averages, first, n);
    before = operation.combine(before, found.total);
  }
}

void false_forgetting(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    lab::launch(in_order_kernel<Operation>, dim3(1), dim3(block_threads), 0, stream, in.values, out.averages,
                in.n, operation);
  });
}
WRONG(false_forgetting, failure_kind::wrong, "a stage that declares forgets",
      {.idea = "forgets nothing, and says that it does",
       .launch = false_forgetting,
       .tile = tile_outputs,
       .traits = {.forgets = 0x1p-104}});

// Begins 2^-53 early: enough for values of one size, and too little after one of 1e16.
void forgets_too_early(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t warm_up = std::max(problem::values_to_decay(in.decay, 53), in.min_periods);
  with_operation(in, [&](const auto& operation) { launch_warm(in, out, stream, warm_up, operation); });
}
STAGE(forgets_too_early, as_stage("a warm-up of half the length", forgets_too_early));

// Overlooks a gap of one position at the end of two tiles that have no other.
template <class Operation>
struct gap_at_a_border : Operation {
  using state = typename Operation::state;
  __host__ __device__ state combine(const state& earlier, const state& later) const {
    state run = Operation::combine(earlier, later);
    if (run.values == 2 * tile_outputs - 1 && run.trail == this->decay) run.trail = 1;
    return run;
  }
};
WRONG(gap_at_a_border, failure_kind::wrong, "input=lone NaN",
      as_stage("a gap at a border is overlooked", launch_with<gap_at_a_border>));

// Lets a gap of several values that are missing decay older weights as one would.
template <class Operation>
struct gap_decays_once : Operation {
  __host__ __device__ void append(typename Operation::state& run, double x) const {
    if (is_present(x) && run.trail < this->decay * this->decay) run.trail = this->decay;
    Operation::append(run, x);
  }
};
WRONG(gap_decays_once, failure_kind::wrong, "input=gaps",
      as_stage("a gap decays once", launch_with<gap_decays_once>));

// Lets what is before a gap decay over 200 positions at most.
template <class Operation>
struct gap_ends_at_200 : Operation {
  using state = typename Operation::state;
  __host__ __device__ state combine(const state& earlier, const state& later) const {
    state run = Operation::combine(earlier, later);
    const double least = pow(this->decay, 200);
    if (run.trail < least) run.trail = least;
    return run;
  }
};
WRONG(gap_ends_at_200, failure_kind::wrong, "input=sparse",
      as_stage("a gap ends at 200", launch_with<gap_ends_at_200>));

// Divides by the sum of the weights, whatever was asked for.
void ignores_adjust(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_warm(in, out, stream, enough(in), weighted_mean{in.alpha, in.decay, in.min_periods});
}
STAGE(ignores_adjust, as_stage("adjusts always", ignores_adjust));

// Takes values beyond 1e17 for missing ones.
template <class Operation>
struct large_is_missing : Operation {
  __host__ __device__ void append(typename Operation::state& run, double x) const {
    if (x > 1e17 || x < -1e17) x = NAN;
    Operation::append(run, x);
  }
};
WRONG(large_is_missing, failure_kind::wrong, "input=wide",
      as_stage("what is large is missing", launch_with<large_is_missing>));

// Multiplies and adds a NaN as if it were a value.
template <class Operation>
struct nan_sticks : Operation {
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
STAGE(nan_sticks, as_stage("a NaN stays in every later average", launch_with<nan_sticks>));

// Each tile begins with nothing, as if the array did.
void no_warm_up(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&](const auto& operation) { launch_warm(in, out, stream, 0, operation); });
}
STAGE(no_warm_up, as_stage("leaves the warm-up out", no_warm_up));

// Takes values whose squares are beyond the largest double for missing ones.
template <class Operation>
struct overflow_is_missing : Operation {
  __host__ __device__ void append(typename Operation::state& run, double x) const {
    if (!isfinite(x * x)) x = NAN;
    Operation::append(run, x);
  }
};
WRONG(overflow_is_missing, failure_kind::wrong, "input=large",
      as_stage("what overflows is missing", launch_with<overflow_is_missing>));

// Begins 2^-106 early, which is within rounding of values that are less than 2^53 apart, and does not say so:
// of a value before nothing but zeros everything is missing.
void undeclared_forgetting(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t warm_up = std::max(problem::values_to_decay(in.decay, 106), in.min_periods);
  with_operation(in, [&](const auto& operation) { launch_warm(in, out, stream, warm_up, operation); });
}
WRONG(undeclared_forgetting, failure_kind::wrong, "input=lone value",
      as_stage("a warm-up of 106 bits", undeclared_forgetting));

// Begins 16384 values early at most, however long the span.
void warm_up_of_16384(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const std::int64_t warm_up = std::min<std::int64_t>(enough(in), 16'384);
  with_operation(in, [&](const auto& operation) { launch_warm(in, out, stream, warm_up, operation); });
}
WRONG(warm_up_of_16384, failure_kind::wrong, "span=4096",
      as_stage("a warm-up of 16384 values", warm_up_of_16384));

// Warms each thread up over a number of positions, however many of their values are missing.
template <class Operation>
__global__ void __launch_bounds__(block_threads)
    positions_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n,
                     std::int64_t warm_up, Operation operation) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x) * per_thread;
  typename Operation::state run = operation.identity();
  for (std::int64_t j = i < warm_up ? 0 : i - warm_up; j < n && j < i + per_thread; ++j) {
    operation.append(run, values[j]);
    if (j >= i) averages[j] = operation.finish(run);
  }
}
void warm_up_of_positions(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + tile_outputs - 1) / tile_outputs);
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    lab::launch(positions_kernel<Operation>, dim3(blocks), dim3(block_threads), 0, stream, in.values,
                out.averages, in.n, enough(in), operation);
  });
}
WRONG(warm_up_of_positions, failure_kind::wrong, "found inf ... input=gaps",
      as_stage("a warm-up that counts positions", warm_up_of_positions));

// Right in another form, y + alpha (x - y): it rounds at the size of the average before.
__global__ void steps_towards(const double* __restrict__ values, double* __restrict__ averages,
                              std::int64_t n, double alpha, double decay, std::int64_t min_periods,
                              bool adjust) {
  double average = 0;
  double weight = 0;  // of what came before, where a value enters with 1 or, without `adjust`, with alpha
  std::int64_t present = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = values[i];
    weight *= decay;
    if (is_present(x)) {
      const double enters = adjust || present == 0 ? 1 : alpha;
      weight += enters;
      average += enters / weight * (x - average);
      if (!adjust) weight = 1;
      ++present;
    }
    averages[i] = present < min_periods ? incomplete : average;
  }
}
void step_towards(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(steps_towards, dim3(1), dim3(1), 0, stream, in.values, out.averages, in.n, in.alpha, in.decay,
              in.min_periods, in.adjust);
}
STAGE(step_towards, as_stage("steps towards each value", step_towards));

}  // namespace
}  // namespace lab::ewm::wrong
