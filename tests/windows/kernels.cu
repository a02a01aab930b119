// One block walks over the array, tile by tile, with one group of threads that loads, computes and stores.
// And blocks that publish a tile's states each.
#include "tests/windows/kernels.hpp"

#include "common/memory.hpp"
#include "common/stream.hpp"
#include "common/windows/moment_scans.hpp"
#include "common/windows/tile_messages.hpp"
#include "common/windows/two_scans.hpp"
#include "stages/rolling/user_operation.hpp"

namespace lab::test {
namespace {

constexpr int group_threads = 128;
constexpr int slots = 6;

template <class Operation, int per_thread>
using computation = std::conditional_t<std::is_same_v<Operation, windows::moments>,
                                       windows::moment_scans<group_threads, per_thread>,
                                       windows::two_scans<Operation, group_threads, per_thread>>;

template <class Operation, int per_thread, int slots>
struct shared_state {
  double ring[slots * group_threads * per_thread];
  typename computation<Operation, per_thread>::template shared_state<1, slots> windows;
};

template <class Operation, int per_thread, int slots>
__global__ void __launch_bounds__(group_threads)
    walk_kernel(const double* values, double* results, std::int64_t n, int window, int min_periods,
                int segment_threads, int halo_tiles, double outside, Operation operation) {
  constexpr int tile = group_threads * per_thread;
  auto& shared = *dynamic_shared<shared_state<Operation, per_thread, slots>>();
  const int thread = static_cast<int>(threadIdx.x);
  const computation<Operation, per_thread> all(operation, window, segment_threads, thread);
  all.initialise(shared.windows, group_threads);
  int slot = 0;
  for (std::int64_t start = -static_cast<std::int64_t>(halo_tiles) * tile; start < n; start += tile) {
    for (int k = thread; k < tile; k += group_threads) {
      const std::int64_t j = start + k;
      shared.ring[slot * tile + k] = j >= 0 && j < n ? values[j] : outside;
    }
    __syncthreads();
    double finished[per_thread] = {};
    const bool at_an_end = start < window - 1 || start + tile >= n;
    all.make(
        finished, shared.ring, shared.windows, 0, slot, windows::place{start, min_periods, at_an_end},
        start >= 0, [] { __syncthreads(); }, [] {}, [] { __syncthreads(); });
    for (int v = 0; v < per_thread && start >= 0; ++v) {
      const std::int64_t i = start + all.first + v;
      if (i < n) results[i] = finished[v];
    }
    __syncthreads();
    slot = slot + 1 == slots ? 0 : slot + 1;
  }
}

template <class Operation>
struct turns {
  using scans = windows::two_scans<Operation, group_threads, 13>;

  struct shared_state {
    double own[scans::tile];
    double leaving[scans::tile];
    typename scans::template shared_state<1, 1> windows;
  };
};

// A tile for each block, which adds up itself what lies between.
template <class Operation>
__global__ void __launch_bounds__(group_threads)
    turns_kernel(const double* values, double* results, std::int64_t n, int window, int min_periods,
                 int segment_threads, Operation operation) {
  using scans = typename turns<Operation>::scans;
  auto& shared = *dynamic_shared<typename turns<Operation>::shared_state>();
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t start = static_cast<std::int64_t>(blockIdx.x) * scans::tile;
  const std::int64_t oldest = start - (window - 1);
  for (int k = thread; k < scans::tile; k += group_threads) {
    shared.own[k] = start + k < n ? values[start + k] : NAN;
    shared.leaving[k] = oldest + k >= 0 && oldest + k < n ? values[oldest + k] : NAN;
  }
  __syncthreads();
  const scans all(operation, window, segment_threads, thread);
  const auto entered = all.enter(
      shared.own, shared.windows, 0, start, [] { __syncthreads(); },
      [](const auto& /*total*/, const auto& /*rest*/) {});
  double finished[scans::per_thread];
  all.finish(finished, entered, shared.own, shared.leaving, shared.windows, 0,
             windows::place{start, min_periods, start < window - 1 || start + scans::tile >= n}, [&] {
               if (thread == 0) {
                 auto between = operation.identity();
                 for (std::int64_t j = max(std::int64_t{0}, oldest + all.segment); j < start; ++j)
                   between = operation.combine(between, operation.lift(values[j]));
                 shared.windows.rest[0] = between;
               }
               __syncthreads();
               return shared.windows.rest[0];
             });
  for (int v = 0; v < scans::per_thread; ++v) {
    const std::int64_t i = start + all.first + v;
    if (i < n) results[i] = finished[v];
  }
}

template <class State>
__global__ void __launch_bounds__(32)
    messages_kernel(const State* total, const State* rest, State* found, windows::tile_messages<State> sent,
                    std::int64_t with_rest) {
  constexpr int at_once = 2;
  const std::int64_t own = blockIdx.x;
  if (threadIdx.x == 0) sent.publish(own, total[own], rest[own]);
  for (std::int64_t begin = 0; begin < own; begin += 32 * at_once) {
    State some[at_once] = {};
    sent.read(some, begin, own, with_rest);
    for (int k = 0; k < at_once; ++k) {
      const std::int64_t which = begin + 32 * k + threadIdx.x;
      if (own + 1 == sent.tiles && which < own) found[which] = some[k];
    }
  }
}

}  // namespace

// What launch_kernel(in, out, n, stream) makes of the values.
template <class Launch>
std::vector<double> results_of(const std::vector<double>& values, const Launch& launch_kernel) {
  const stream on;
  device_buffer<double> in(values.size(), on.get());
  device_buffer<double> out(values.size(), on.get());
  std::vector<double> results(values.size());
  CUDA_CHECK(cudaMemcpyAsync(in.data(), values.data(), in.bytes(), cudaMemcpyHostToDevice, on.get()));
  launch_kernel(in.data(), out.data(), static_cast<std::int64_t>(values.size()), on.get());
  CUDA_CHECK(cudaMemcpyAsync(results.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost, on.get()));
  on.synchronize();
  return results;
}

template <class Operation, int per_thread, int slots>
std::vector<double> walk(const Operation& operation, const std::vector<double>& values, std::int64_t window,
                         std::int64_t min_periods, double outside) {
  using scans = typename computation<Operation, per_thread>::scans;
  return results_of(values, [&](const double* in, double* out, std::int64_t n, cudaStream_t on) {
    launch(walk_kernel<Operation, per_thread, slots>, dim3(1), dim3(group_threads),
           sizeof(shared_state<Operation, per_thread, slots>), on, in, out, n, window, min_periods,
           scans::choose_segment(window), scans::halo_tiles(window), outside, operation);
  });
}

template <class Operation>
std::vector<double> windows_in_two_turns(const Operation& operation, const std::vector<double>& values,
                                         std::int64_t window, std::int64_t min_periods) {
  using scans = typename turns<Operation>::scans;
  return results_of(values, [&](const double* in, double* out, std::int64_t n, cudaStream_t on) {
    const auto tiles = static_cast<unsigned>((n + scans::tile - 1) / scans::tile);
    launch(turns_kernel<Operation>, dim3(tiles), dim3(group_threads),
           sizeof(typename turns<Operation>::shared_state), on, in, out, n, window, min_periods,
           scans::scans::choose_segment(window), operation);
  });
}

template <class Operation>
std::vector<double> windows_by_two_scans(const Operation& operation, const std::vector<double>& values,
                                         std::int64_t window, std::int64_t min_periods, double outside) {
  return walk<Operation, 17, slots>(operation, values, window, min_periods, outside);
}

std::vector<double> variances_of_layouts(const windows::moments& operation, const std::vector<double>& values,
                                         std::int64_t window, std::int64_t min_periods, double outside) {
  if (window <= group_threads * 21)
    return walk<windows::moments, 21, 3>(operation, values, window, min_periods, outside);
  return walk<windows::moments, 15, 11>(operation, values, window, min_periods, outside);
}

template <class State>
std::vector<State> read_messages(const published_states<State>& published, std::int64_t with_rest) {
  const stream on;
  const auto tiles = std::ssize(published.total);
  const auto copied = [&](const std::vector<State>& states) {
    device_buffer<State> copy(states.size(), on.get());
    CUDA_CHECK(cudaMemcpyAsync(copy.data(), states.data(), copy.bytes(), cudaMemcpyHostToDevice, on.get()));
    return copy;
  };
  const device_buffer<State> total = copied(published.total);
  const device_buffer<State> rest = copied(published.rest);
  std::vector<State> results(published.total.size() - 1);
  device_buffer<State> found(results.size(), on.get());
  using messages = windows::tile_messages<State>;
  device_buffer<unsigned char> scratch(messages::bytes(tiles), on.get());
  launch(messages_kernel<State>, dim3(static_cast<unsigned>(tiles)), dim3(32), 0, on.get(), total.data(),
         rest.data(), found.data(), messages::cleared(scratch.data(), tiles, on.get()), with_rest);
  CUDA_CHECK(cudaMemcpyAsync(results.data(), found.data(), found.bytes(), cudaMemcpyDeviceToHost, on.get()));
  on.synchronize();
  return results;
}

template std::vector<double> windows_in_two_turns(const windows::first_minus_last&,
                                                  const std::vector<double>&, std::int64_t, std::int64_t);
template std::vector<double> windows_in_two_turns(const windows::total&, const std::vector<double>&,
                                                  std::int64_t, std::int64_t);
template std::vector<double> windows_in_two_turns(const windows::skipping<windows::total>&,
                                                  const std::vector<double>&, std::int64_t, std::int64_t);
template std::vector<double> windows_in_two_turns(const windows::skipping<windows::moments>&,
                                                  const std::vector<double>&, std::int64_t, std::int64_t);

template std::vector<double> read_messages(const published_states<double>&, std::int64_t);
template std::vector<any_words> read_messages(const published_states<any_words>&, std::int64_t);

template std::vector<double> windows_by_two_scans(const windows::total&, const std::vector<double>&,
                                                  std::int64_t, std::int64_t, double);
template std::vector<double> windows_by_two_scans(const windows::moments&, const std::vector<double>&,
                                                  std::int64_t, std::int64_t, double);
template std::vector<double> windows_by_two_scans(const windows::first_minus_last&,
                                                  const std::vector<double>&, std::int64_t, std::int64_t,
                                                  double);
template std::vector<double> windows_by_two_scans(const windows::skipping<windows::total>&,
                                                  const std::vector<double>&, std::int64_t, std::int64_t,
                                                  double);
template std::vector<double> windows_by_two_scans(const windows::extremum&, const std::vector<double>&,
                                                  std::int64_t, std::int64_t, double);
template std::vector<double> windows_by_two_scans(const windows::skipping<windows::extremum>&,
                                                  const std::vector<double>&, std::int64_t, std::int64_t,
                                                  double);
template std::vector<double> windows_by_two_scans(const windows::skipping<windows::moments>&,
                                                  const std::vector<double>&, std::int64_t, std::int64_t,
                                                  double);
template std::vector<double> windows_by_two_scans(const windows::skipping<windows::first_minus_last>&,
                                                  const std::vector<double>&, std::int64_t, std::int64_t,
                                                  double);

}  // namespace lab::test
