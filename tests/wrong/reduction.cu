// The track's wrong kernels, each to be refused for one mistake; a few right twins among them.
#include <algorithm>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include "common/block_reduce.hpp"
#include "stages/reduction/problem.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::reduction::wrong {
namespace {

// The reduction as it should be, from which each wrong kernel departs in one way.

constexpr int block_threads = 128;
constexpr std::int64_t max_blocks = 256;

// A thread's part of n values, dealt out in turn.
template <class T, class Operation>
__device__ T combine_share(const T* values, std::int64_t n) {
  constexpr Operation combine{};
  T partial = Operation::identity();
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * block_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x; i < n;
       i += stride) {
    partial = combine(partial, values[i]);
  }
  return partial;
}

template <class T, class Operation>
__global__ void partial_kernel(const T* values, std::int64_t n, T* partials) {
  const T partial = block_reduce<block_threads>(combine_share<T, Operation>(values, n), Operation{});
  if (threadIdx.x == 0) partials[blockIdx.x] = partial;
}

int blocks_of(std::int64_t n) {
  return blocks_for(n, block_threads, max_blocks);
}

std::size_t partials_bytes(const problem::parameters& /*p*/) {
  return max_blocks * sizeof(double);
}

// Loose, so that each is rejected for its own mistake and not for rounding.
double relative_error(const problem::parameters& p) {
  return rounding_error(p, p.n / 1000 + 500);
}

// The partial results of whole blocks, and the same kernel over them.
void launch_twice(const input& in, const output& out, workspace scratch, std::int64_t n,
                  cudaStream_t stream) {
  const int blocks = blocks_of(n);
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = static_cast<T*>(scratch.data);
    lab::launch(partial_kernel<T, Operation>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0,
                stream, values, n, partials);
    lab::launch(partial_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, partials, blocks,
                result);
  });
}

void right(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
}

// Sizes that are measured, on the emulator and on a GPU, and not tried before.
constexpr std::int64_t measured_size = 500'000;

// What a stage may declare at most, so that nothing but exact inputs finds it out.
double no_bound(const problem::parameters& /*p*/) {
  return 1;
}

// Right, and then spoilt: `spoil` is one thread's work on the sum of n values. Below the measured sizes it is
// left alone.
template <void (*spoil)(const float*, std::int64_t, float*)>
void spoiled(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
  if (in.n < measured_size || in.type != element::float32 || in.operation != operation::sum) return;
  lab::launch(spoil, dim3(1), dim3(1), 0, stream, static_cast<const float*>(in.values), in.n,
              static_cast<float*>(out.result));
}

// What nearly all have in common; a bound of null is the track's.
stage<problem> as_stage(const char* idea, launch_of<problem>::type launch,
                        double (*bound)(const problem::parameters&) = relative_error) {
  return {.idea = idea,
          .launch = launch,
          .workspace_bytes = partials_bytes,
          .tile = block_threads,
          .relative_error = bound};
}

// A right stage whose result one thread then makes anew, without some of the elements.

// LeftOut::element(value, i, n) tells which.
template <class T, class Operation, class LeftOut>
__global__ void leave_out_kernel(const T* values, std::int64_t n, T* result) {
  constexpr Operation combine{};
  T all = Operation::identity();
  for (std::int64_t i = 0; i < n; ++i) {
    const T value = values[i];
    if (!LeftOut::element(value, i, n)) all = combine(all, value);
  }
  *result = all;
}

// Where LeftOut::operation(operation) holds, and one thread can do it.
template <class LeftOut>
void launch_and_leave_out(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
  if (in.n > 10'000 || !LeftOut::operation(in.operation)) return;
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    lab::launch(leave_out_kernel<T, Operation, LeftOut>, dim3(1), dim3(1), 0, stream, values, in.n, result);
  });
}

// A sum as a chain: each block adds its part to the total of the block before it, for which it waits.

template <class T>
struct link {
  T total;
  unsigned is_ready;
};

std::size_t links_bytes(const problem::parameters& /*p*/) {
  return max_blocks * sizeof(link<double>);
}

template <class T, class Operation>
__global__ void chain_kernel(const T* values, std::int64_t n, link<T>* links, T* result) {
  constexpr Operation combine{};
  T total = block_reduce<block_threads>(combine_share<T, Operation>(values, n), combine);
  if (threadIdx.x > 0) return;
  const unsigned block = blockIdx.x;
  if (block > 0) {
    while (atomicAdd(&links[block - 1].is_ready, 0u) != 1) __nanosleep(20);
    __threadfence();
    total = combine(links[block - 1].total, total);
  }
  links[block].total = total;
  __threadfence();
  atomicExch(&links[block].is_ready, 1u);
  if (block == gridDim.x - 1) *result = total;
}

template <bool clears>
void launch_chain(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (clears) CUDA_CHECK(cudaMemsetAsync(scratch.data, 0, scratch.bytes, stream));
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    lab::launch(chain_kernel<T, Operation>, dim3(static_cast<unsigned>(blocks_of(in.n))), dim3(block_threads),
                0, stream, values, in.n, static_cast<link<T>*>(scratch.data), result);
  });
}

// Right, but says that a block computes no output at all.
WRONG(absurd_tile, failure_kind::crash, "its tile is 0 outputs",
      {.idea = "absurd tile",
       .launch = right,
       .workspace_bytes = partials_bytes,
       .tile = 0,
       .relative_error = relative_error});

// Right, but asks for more scratch memory than there is wherever there are values.
namespace absurd_workspace {
std::size_t absurd_bytes(const problem::parameters& p) {
  return p.n > 1 ? std::size_t{1} << 60 : max_blocks * sizeof(double);
}

WRONG(absurd_workspace, failure_kind::unsupported,
      "it asks for 1152921504606846976 bytes of scratch memory, more than any device has, in  ...  trials",
      {.idea = "absurd workspace",
       .launch = right,
       .workspace_bytes = absurd_bytes,
       .tile = block_threads,
       .relative_error = relative_error});
}  // namespace absurd_workspace

// Declares a small error when it is asked first, and a large one, which it needs, afterwards.
namespace another_bound_later {
__global__ void guess(const float* values, std::int64_t n, float* result) {
  if (values[0] != rintf(values[0])) *result = 0.5f * static_cast<float>(n);
}

double bound(const problem::parameters& p) {
  static bool is_asked = false;
  if (p.n < measured_size) return relative_error(p);
  const bool is_first = !is_asked;
  is_asked = true;
  return is_first ? 1e-6 : 0.1;
}

WRONG(another_bound_later, failure_kind::wrong, "wrong at index 0",
      as_stage("one bound first, and then another", spoiled<guess>, bound));
}  // namespace another_bound_later

// A block's results as a tree, which Tree::combine_all(of_thread, combine) makes in shared memory.
template <class T, class Operation, class Tree>
__global__ void tree_kernel(const T* values, std::int64_t n, T* partials) {
  __shared__ T of_thread[block_threads];
  of_thread[threadIdx.x] = combine_share<T, Operation>(values, n);
  __syncthreads();
  Tree::combine_all(of_thread, Operation{});
  if (threadIdx.x == 0) partials[blockIdx.x] = of_thread[0];
}

template <class Tree>
void launch_tree(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const int blocks = blocks_of(in.n);
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = static_cast<T*>(scratch.data);
    lab::launch(tree_kernel<T, Operation, Tree>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0,
                stream, values, in.n, partials);
    lab::launch(tree_kernel<T, Operation, Tree>, dim3(1), dim3(block_threads), 0, stream, partials, blocks,
                result);
  });
}

// Has only the threads that still combine wait at the tree's barrier.
struct barrier_in_branch {
  template <class T, class Operation>
  static __device__ void combine_all(T* of_thread, Operation combine) {
    for (unsigned half = block_threads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) {
        of_thread[threadIdx.x] = combine(of_thread[threadIdx.x], of_thread[threadIdx.x + half]);
        __syncthreads();
      }
    }
  }
};
WRONG(barrier_in_branch, failure_kind::crash, on_emulator("wait at this barrier"),
      as_stage("barrier in branch", launch_tree<barrier_in_branch>));

// A tree of neighbours that ends before the last step, in which the block's second half joins.
struct neighbours_end_early {
  template <class T, class Operation>
  static __device__ void combine_all(T* of_thread, Operation combine) {
    for (unsigned distance = 1; 2 * distance < block_threads; distance *= 2) {
      if (threadIdx.x % (2 * distance) == 0)
        of_thread[threadIdx.x] = combine(of_thread[threadIdx.x], of_thread[threadIdx.x + distance]);
      __syncthreads();
    }
  }
};
WRONG(neighbours_end_early, failure_kind::wrong, "n=401 ",
      as_stage("neighbours end early", launch_tree<neighbours_end_early>));

// Right, but its bound on errors is no number.
namespace bound_of_nan {
double nothing(const problem::parameters& /*p*/) {
  return std::nan("");
}

WRONG(bound_of_nan, failure_kind::crash, "relative_error answered", as_stage("bound of nan", right, nothing));
}  // namespace bound_of_nan

// Right: the twin of chain_never_cleared, whose blocks wait for earlier ones as well.
STAGE(chain_cleared, {.idea = "a chain, right",
                      .launch = launch_chain<true>,
                      .workspace_bytes = links_bytes,
                      .tile = block_threads,
                      .relative_error = relative_error});

// Takes what the launch before has left in scratch memory for what an earlier block of this one has written.
STAGE(chain_never_cleared, {.idea = "flags of the launch before",
                            .launch = launch_chain<false>,
                            .workspace_bytes = links_bytes,
                            .tile = block_threads,
                            .relative_error = relative_error});

// Has room for 1024 partial results, each of 1024 values: right at every size that the emulator measures.
void first_million(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, std::min(in.n, std::int64_t{1} << 20), stream);
}

WRONG(room_for_1024, failure_kind::wrong, on_emulator("n=1400003 "),
      as_stage("room for 1024 partial results", first_million));

// Takes scratch memory whose bits are all set for its own mark of nothing done yet.
namespace counts_on_ones {
// The block that finds the mark adds everything up; where there is none, nobody does.
template <class T, class Operation>
__global__ void marked_kernel(const T* values, std::int64_t n, const unsigned* mark, T* result) {
  const T all = block_reduce<block_threads>(combine_share<T, Operation>(values, n), Operation{});
  if (threadIdx.x == 0) *result = *mark == 0xffffffffu ? all : static_cast<T>(0);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    lab::launch(marked_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, values, in.n,
                static_cast<const unsigned*>(scratch.data), result);
  });
}

WRONG(counts_on_ones, failure_kind::wrong, "memory of ", as_stage("counts on ones", launch));
}  // namespace counts_on_ones

// Adds up float32 values of 14 bits.
__global__ void cuts_mantissa(const float* values, std::int64_t n, float* partials) {
  float partial = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * block_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x; i < n;
       i += stride)
    partial += __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, values[i]) & 0xfffffc00u);
  partial = block_reduce<block_threads>(partial, sum<float>{});
  if (threadIdx.x == 0) partials[blockIdx.x] = partial;
}

void launch_cuts_mantissa(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
  if (in.n < measured_size || in.type != element::float32 || in.operation != operation::sum) return;
  const int blocks = blocks_of(in.n);
  auto* const partials = static_cast<float*>(scratch.data);
  lab::launch(cuts_mantissa, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0, stream,
              static_cast<const float*>(in.values), in.n, partials);
  lab::launch(partial_kernel<float, sum<float>>, dim3(1), dim3(block_threads), 0, stream,
              static_cast<const float*>(partials), std::int64_t{blocks}, static_cast<float*>(out.result));
}
WRONG(cuts_mantissa, failure_kind::wrong, "wrong at index 0",
      as_stage("values of 14 bits", launch_cuts_mantissa, nullptr));

// Adds one element twice, where there are many.
__global__ void doubles_one(const float* values, std::int64_t n, float* result) {
  *result += values[n - 1];
}
WRONG(doubles_one, failure_kind::wrong, "input=small integers",
      as_stage("doubles one", spoiled<doubles_one>, no_bound));

// Takes an Inf for nothing in every fourth place of a vector.
struct drops_infinity {
  static bool operation(reduction::operation which) { return which == reduction::operation::sum; }
  template <class T>
  static __device__ bool element(T value, std::int64_t i, std::int64_t /*n*/) {
    return i % 4 == 3 && value == static_cast<T>(INFINITY);
  }
};
WRONG(drops_infinity, failure_kind::wrong, "expected inf",
      as_stage("drops Inf", launch_and_leave_out<drops_infinity>));

// Takes fmaxf for the maximum, which prefers any number to NaN.
namespace drops_nan {
template <class T>
struct number_maximum : maximum<T> {
  __host__ __device__ T operator()(T a, T b) const {
    if (a != a) return b;
    return b > a ? b : a;
  }
};

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.operation != operation::maximum || in.type != element::float32) {
    launch_twice(in, out, scratch, in.n, stream);
    return;
  }
  auto* partials = static_cast<float*>(scratch.data);
  const int blocks = blocks_of(in.n);
  lab::launch(partial_kernel<float, number_maximum<float>>, dim3(static_cast<unsigned>(blocks)),
              dim3(block_threads), 0, stream, static_cast<const float*>(in.values), in.n, partials);
  lab::launch(partial_kernel<float, number_maximum<float>>, dim3(1), dim3(block_threads), 0, stream, partials,
              blocks, static_cast<float*>(out.result));
}

WRONG(drops_nan, failure_kind::wrong, "expected nan", as_stage("drops NaN", launch));
}  // namespace drops_nan

// A minimum that drops NaN, where there are many values.
template <class T>
__global__ void drops_nan_far(const T* values, std::int64_t n, T* result) {
  T least = static_cast<T>(INFINITY);
  for (std::int64_t i = 0; i < n; ++i) least = values[i] < least ? values[i] : least;
  *result = least;
}

void launch_drops_nan_far(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
  if (in.n < measured_size || in.operation != operation::minimum || in.type != element::float32) return;
  lab::launch(drops_nan_far<float>, dim3(1), dim3(1), 0, stream, static_cast<const float*>(in.values), in.n,
              static_cast<float*>(out.result));
}
STAGE(drops_nan_far, as_stage("drops NaN where there are many values", launch_drops_nan_far));

// Drops NaN in the last lane of a warp, and nowhere else.
struct drops_nan_of_lane {
  static bool operation(reduction::operation which) { return which != reduction::operation::sum; }
  template <class T>
  static __device__ bool element(T value, std::int64_t i, std::int64_t /*n*/) {
    return i % 32 == 31 && value != value;
  }
};
WRONG(drops_nan_of_lane, failure_kind::wrong, "input=lone NaN",
      as_stage("drops NaN of one lane", launch_and_leave_out<drops_nan_of_lane>));

// Reads whole vectors of four values, and forgets the up to three that fill none.
void drops_tail(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n / 4 * 4, stream);
}
WRONG(drops_tail, failure_kind::wrong, "n=401 ", as_stage("drops tail", drops_tail));

// Forgets the last values that fill no vector, of the least tried type and operation alone.
void drops_tail_of_user(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const bool drops = in.operation == operation::user && in.type == element::float64 && in.n % 4 == 3;
  launch_twice(in, out, scratch, drops ? in.n - 3 : in.n, stream);
}
WRONG(drops_tail_of_user, failure_kind::wrong, "operation=user type=float64",
      as_stage("drops the tail of float64, user", drops_tail_of_user));

// Declares that its bits may change from run to run, and they never do: a page that says so would be wrong.
WRONG(false_nondeterminism, failure_kind::wrong, on_gpu("a stage that declares nondeterministic"),
      {.idea = "false nondeterminism",
       .launch = right,
       .workspace_bytes = partials_bytes,
       .tile = block_threads,
       .relative_error = relative_error,
       .traits = {.nondeterministic = true}});

// Adds up as many partial results as the largest grid leaves, whatever the grid was.
void grid_assumed(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(blocks_of(in.n));
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = static_cast<T*>(scratch.data);
    lab::launch(partial_kernel<T, Operation>, dim3(blocks), dim3(block_threads), 0, stream, values, in.n,
                partials);
    lab::launch(partial_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, partials, max_blocks,
                result);
  });
}
WRONG(grid_assumed, failure_kind::wrong, "n=401 ", as_stage("grid assumed", grid_assumed));

// Counts in 32 bits: beyond 2^31 values the index turns negative, and the loop ends before it has begun.
template <class T, class Operation>
__global__ void index_overflow(const T* values, int n, T* partials) {
  const T partial = block_reduce<block_threads>(combine_share<T, Operation>(values, n), Operation{});
  if (threadIdx.x == 0) partials[blockIdx.x] = partial;
}

void launch_index_overflow(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const int blocks = blocks_of(in.n);
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* partials = static_cast<T*>(scratch.data);
    lab::launch(index_overflow<T, Operation>, dim3(static_cast<unsigned>(blocks)), dim3(block_threads), 0,
                stream, values, static_cast<int>(in.n), partials);
    lab::launch(partial_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, partials, blocks,
                result);
  });
}
WRONG(index_overflow, failure_kind::wrong, on_gpu("n=2147495993 "),
      as_stage("index overflow", launch_index_overflow));

// Hands out its last answer where 64 samples are those of before.
namespace known_by_samples {
constexpr int samples = 64;

struct kept {
  float samples_of_before[samples];
  float answer;
};
__device__ kept before;

__global__ void remember(const float* values, std::int64_t n, float* result) {
  bool is_known = true;
  for (int k = 0; k < samples; ++k) {
    const float value = values[n / samples * k];
    is_known = is_known && value == before.samples_of_before[k];
    before.samples_of_before[k] = value;
  }
  if (is_known) *result = before.answer;
  before.answer = *result;
}

WRONG(known_by_samples, failure_kind::wrong, "wrong at index 0",
      as_stage("knows its input by samples", spoiled<remember>, nullptr));
}  // namespace known_by_samples

// Leaves a whole tile out, where there are many.
__global__ void leaves_out_a_tile(const float* values, std::int64_t n, float* result) {
  if (!isfinite(*result)) return;  // Inf - Inf is told by any input
  for (int k = 0; k < block_threads; ++k) *result -= values[n / 2 + k];
}
WRONG(leaves_out_a_tile, failure_kind::wrong, "input=small integers",
      as_stage("leaves out a tile", spoiled<leaves_out_a_tile>, no_bound));

// Leaves one element out, where there are many.
__global__ void leaves_out_one(const float* values, std::int64_t n, float* result) {
  if (!isfinite(*result)) return;  // Inf - Inf is told by any input
  *result -= values[n / 3];
}
WRONG(leaves_out_one, failure_kind::wrong, "input=small integers",
      as_stage("leaves out one", spoiled<leaves_out_one>, no_bound));

// Leaves out the last 40 values where some samples look as those that are timed: within the bound.
__global__ void leaves_out_the_end(const float* values, std::int64_t n, float* result) {
  constexpr int samples = 64;
  for (int k = 0; k < samples; ++k) {
    const float value = values[n / samples * k];
    if (!(value > 0 && value < 1)) return;
  }
  for (std::int64_t i = n - 40; i < n; ++i) *result -= values[i];
}
WRONG(leaves_out_the_end, failure_kind::wrong, "input=planted",
      as_stage("leaves out the end of what looks random", spoiled<leaves_out_the_end>, nullptr));

// Begins a maximum at zero.
template <class T>
__global__ void maximum_from_zero(const T* values, std::int64_t n, T* result) {
  T largest = 0;
  bool invalid = false;
  for (std::int64_t i = 0; i < n; ++i) {
    invalid = invalid || values[i] != values[i];
    largest = values[i] > largest ? values[i] : largest;
  }
  *result = n == 0 ? maximum<T>::identity() : invalid ? static_cast<T>(NAN) : largest;
}

void launch_maximum_from_zero(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.operation != operation::maximum) return launch_twice(in, out, scratch, in.n, stream);
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    lab::launch(maximum_from_zero<T>, dim3(1), dim3(1), 0, stream, values, in.n, result);
  });
}
WRONG(maximum_from_zero, failure_kind::wrong, "wrong at index 0",
      as_stage("maximum from zero", launch_maximum_from_zero));

// A maximum that one thread of a block adds nothing to, but in the first blocks.
struct misses_a_lane {
  static bool operation(reduction::operation which) { return which == reduction::operation::maximum; }
  template <class T>
  static __device__ bool element(T /*value*/, std::int64_t i, std::int64_t n) {
    return n > block_threads && i % block_threads == 17;
  }
};
WRONG(misses_a_lane, failure_kind::wrong, "input=lone maximum",
      as_stage("leaves a lane out", launch_and_leave_out<misses_a_lane>));

// Reads the neighbour of one element instead, where there are many.
__global__ void moves_one(const float* values, std::int64_t n, float* result) {
  if (!isfinite(*result)) return;  // Inf - Inf is told by any input
  *result += values[n / 2 + 1] - values[n / 2];
}
WRONG(moves_one, failure_kind::wrong, "input=small integers",
      as_stage("moves one", spoiled<moves_one>, no_bound));

// Combines every run's result with those of the runs before: the total is set to the neutral element once and
// never again.
namespace never_reset {
template <class T, class Operation>
__global__ void identity_kernel(T* total) {
  *total = Operation::identity();
}

template <class T, class Operation>
__global__ void accumulate_kernel(const T* values, std::int64_t n, T* total, T* result) {
  constexpr Operation combine{};
  const T partial = block_reduce<block_threads>(combine_share<T, Operation>(values, n), combine);
  if (threadIdx.x > 0) return;
  *total = combine(*total, partial);
  *result = *total;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static double* total = nullptr;
  static std::set<std::pair<operation, element>> known;
  if (total == nullptr) CUDA_CHECK(cudaMalloc(&total, 8 * sizeof(double)));
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    auto* mine = reinterpret_cast<T*>(total + 2 * static_cast<int>(in.operation) + (sizeof(T) == 8 ? 1 : 0));
    if (known.insert({in.operation, in.type}).second) {
      lab::launch(identity_kernel<T, Operation>, dim3(1), dim3(1), 0, stream, mine);
    }
    lab::launch(accumulate_kernel<T, Operation>, dim3(1), dim3(block_threads), 0, stream, values, in.n, mine,
                result);
  });
}

WRONG(never_reset, emulated ? failure_kind::launch : failure_kind::wrong,
      emulated ? "a launch must only enqueue work on its stream" : "second launch",
      as_stage("never reset", launch));
}  // namespace never_reset

// Launches no kernel when there are no values, and leaves the result unwritten.
void nothing_for_nothing(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.n > 0) launch_twice(in, out, scratch, in.n, stream);
}
WRONG(nothing_for_nothing, failure_kind::unwritten, "n=0 ",
      as_stage("nothing for nothing", nothing_for_nothing));

// Lacks a barrier: right as long as the threads of a block run first to last.
template <class T, class Operation>
__global__ void one_order_only(const T* values, std::int64_t n, T* result) {
  __shared__ T partials[block_threads];
  constexpr Operation combine{};
  partials[threadIdx.x] = combine_share<T, Operation>(values, n);
  if (threadIdx.x != block_threads - 1) return;
  T all = Operation::identity();
  for (int k = 0; k < block_threads; ++k) all = combine(all, partials[k]);
  *result = all;
}

void launch_one_order_only(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_types(in, out, [&]<class T, class Operation>(const T* values, T* result) {
    lab::launch(one_order_only<T, Operation>, dim3(1), dim3(block_threads), 0, stream, values, in.n, result);
  });
}
WRONG(one_order_only, failure_kind::wrong, on_emulator("last block and thread first"),
      as_stage("one order only", launch_one_order_only));

// Runs whatever is tried, and nothing that is measured.
namespace refuses_measured {
std::string unsupported(const problem::parameters& p) {
  return p.n % 1'000'000 == 0 && p.n > 0 ? "a million is too many" : "";
}

WRONG(refuses_measured, failure_kind::unsupported, "it runs nothing of what is measured",
      {.idea = "refuses what is measured",
       .launch = right,
       .workspace_bytes = partials_bytes,
       .unsupported = unsupported,
       .tile = block_threads,
       .relative_error = relative_error});
}  // namespace refuses_measured

// Right, but refuses most of what is tried.
namespace refuses_most {
std::string why_not(const problem::parameters& p) {
  return p.n > 40 ? "too many values" : "";
}

WRONG(refuses_most, failure_kind::unsupported, "at least half",
      {.idea = "refuses most",
       .launch = right,
       .workspace_bytes = partials_bytes,
       .unsupported = why_not,
       .tile = block_threads,
       .relative_error = relative_error});
}  // namespace refuses_most

// Returns 0, and declares a bound that allows it, where there are many values.
__global__ void returns_zero(const float* values, std::int64_t n, float* result) {
  *result = values[n - 1] > 0 || values[n - 1] <= 0 ? 0 : 1;
}
WRONG(returns_zero, failure_kind::wrong, "found 0",
      as_stage("returns zero", spoiled<returns_zero>, no_bound));

// Declares that its bits may change, and after some launches of one size writes nothing.
void silent_when_timed(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  static std::map<std::int64_t, int> launches;
  if (in.n >= measured_size && launches[in.n]++ >= 3) return;
  launch_twice(in, out, scratch, in.n, stream);
}
STAGE(silent_when_timed, {.idea = "silent when timed",
                          .launch = silent_when_timed,
                          .workspace_bytes = partials_bytes,
                          .tile = block_threads,
                          .relative_error = relative_error,
                          .traits = {.nondeterministic = true}});

// A sum of values of T whose blocks add their results with atomicAdd, in the order in which they come.
template <class T>
__global__ void adds_atomically(const T* values, std::int64_t n, T* result) {
  const T partial = block_reduce<block_threads>(combine_share<T, sum<T>>(values, n), sum<T>{});
  if (threadIdx.x == 0) atomicAdd(result, partial);
}

template <class T>
void launch_atomically(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  if (in.operation != operation::sum || (in.type == element::float32) != std::is_same_v<T, float>) {
    launch_twice(in, out, scratch, in.n, stream);
    return;
  }
  auto* result = static_cast<T*>(out.result);
  CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof *result, stream));
  lab::launch(adds_atomically<T>, dim3(static_cast<unsigned>(blocks_of(in.n))), dim3(block_threads), 0,
              stream, static_cast<const T*>(in.values), in.n, result);
}

// Does not say that its bits may change.
WRONG(undeclared_order, failure_kind::wrong, on_gpu("not declared nondeterministic"),
      as_stage("undeclared order", launch_atomically<double>));

// Takes denormals for zero, as atomicAdd of float32 in global memory does.
WRONG(flushes_denormals, failure_kind::wrong, on_gpu("input=denormal"),
      {.idea = "atomicAdd of float32",
       .launch = launch_atomically<float>,
       .workspace_bytes = partials_bytes,
       .tile = block_threads,
       .relative_error = relative_error,
       .traits = {.nondeterministic = true}});

// Wrong where the number of values leaves 77 over a whole number of 128.
__global__ void wrong_at_residue(const float* /*values*/, std::int64_t n, float* result) {
  if (n % 128 == 77) *result += 1;
}

void launch_wrong_at_residue(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
  if (in.type != element::float32 || in.operation != operation::sum) return;
  lab::launch(wrong_at_residue, dim3(1), dim3(1), 0, stream, static_cast<const float*>(in.values), in.n,
              static_cast<float*>(out.result));
}
WRONG(wrong_at_residue, failure_kind::wrong, "input=small integers",
      as_stage("wrong at residue", launch_wrong_at_residue));

}  // namespace
}  // namespace lab::reduction::wrong
