// What is counted does not depend on how many OS threads count it. The kernels of this file are instrumented.
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/observe/counting_threads.hpp"
#include "common/emulator/observe/observation.hpp"
#include "common/emulator/programs/known_launches.hpp"
#include "tests/emulator/support.hpp"

namespace {

using lab::emulator::observation;

// Lanes leave the loop at different times, and some of them come by the store.
__global__ void diverge(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = i + 1;
  int sum = 0;
  while (value != 1) {
    if (value % 2 == 0) {
      value /= 2;
    } else {
      value = 3 * value + 1;
      sum += in[value % 1024];
    }
  }
  out[i] = sum;
}

__device__ __attribute__((noinline)) int add_from(const int* in, int count) {
  int sum = 0;
  for (int k = 0; k < count; ++k) sum += in[k * 3];
  return sum;
}
__device__ __attribute__((noinline)) int descend(const int* in, int depth) {
  const int sum = in[depth];
  if (depth == 0) return sum + add_from(in, 5);
  const int below = descend(in, depth - 1);
  return below + in[depth + 32];
}
__global__ void call(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (unsigned k = 0; k < 1 + i % 7; ++k) sum += descend(in, static_cast<int>((i + k) % 5));
  out[i] = sum;
}

// Every lane goes around as often, but half of them are in one call more, in which the warp meets a barrier
// again and again: who stands where is known only to who knows how deep the lanes were before it.
constexpr int loads_after_barrier = 40, rounds = 3;
__device__ __attribute__((noinline)) int load_in_rounds(const int* in) {
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    for (unsigned k = 0; k < threadIdx.x % 4 * 8; ++k) sum += static_cast<int>(k);
    __syncthreads();
    for (int k = 0; k < loads_after_barrier; ++k) sum += in[k];
  }
  return sum;
}
__device__ __attribute__((noinline)) int one_call_more(const int* in) {
  const int sum = load_in_rounds(in);
  return sum + 1;
}
__global__ void barrier_in_calls(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = threadIdx.x % 2 == 0 ? load_in_rounds(in) : one_call_more(in);
}

// Collectives of all lanes and of some, between loops of different lengths, which are longer than what is
// kept of a lane.
__global__ void meet(const int* in, int* out, int longest) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % 32;
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    for (unsigned k = 0; k < lane * static_cast<unsigned>(longest) / 32; ++k) sum += in[(k + lane) % 1024];
    sum += __shfl_xor_sync(~0u, sum, 1);
    const unsigned mask = lane < 10 ? 0x3ffu : ~0x3ffu;
    for (unsigned k = 0; k < lane; ++k) sum += in[k];
    __syncwarp(mask);
    sum += static_cast<int>(__popc(__ballot_sync(~0u, in[lane] == 0)));
  }
  out[i] = sum;
}

__device__ void wait_for_grid() {
  __syncthreads();
  if (threadIdx.x == 0) lab::emulator::wait_for_all_blocks(lab::emulator::place::here());
  __syncthreads();
}
__device__ __attribute__((noinline)) int load_around_grid(const int* in, unsigned count) {
  int sum = 0;
  for (unsigned k = 0; k < count; ++k) sum += in[k];
  wait_for_grid();
  for (unsigned k = 0; k < count; ++k) sum += in[2 * k];
  return sum;
}
__device__ __attribute__((noinline)) int one_call_more_around_grid(const int* in, unsigned count) {
  const int sum = load_around_grid(in, count);
  return sum + 1;
}
__global__ void cooperate(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned count = 100 + threadIdx.x % 5;
  out[i] = threadIdx.x % 2 == 0 ? load_around_grid(in, count) : one_call_more_around_grid(in, count);
}

// One lane of a late block goes astray in a long loop.
__global__ void stray_late(const int* in, int* out, unsigned stray) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (unsigned k = 0; k < 200 + 40 * (i % 32); ++k)
    sum += in[i == stray && k == 1000 ? 1030 : (k + i) % 1024];
  out[i] = sum;
}

// Everything that an observation says.
struct said {
  std::vector<cudaError_t> errors;
  std::vector<std::tuple<std::string, std::uint64_t, lab::emulator::metric_values>> kernels;
  std::vector<std::tuple<std::string, std::string, int, std::string, lab::emulator::metric_values>> lines;
  std::vector<std::string> words;

  bool operator==(const said&) const = default;
};

said all_of(const observation& watching, std::vector<cudaError_t> errors) {
  said result{.errors = std::move(errors)};
  for (const auto& kernel : watching.kernels()) {
    result.kernels.emplace_back(kernel.name, kernel.launches, kernel.metrics);
    for (const auto& line : kernel.lines)
      result.lines.emplace_back(kernel.name, line.file, line.line, line.function, line.metrics);
  }
  for (const auto& one : watching.faults()) result.words.push_back(one.text);
  for (const auto& one : watching.warnings()) result.words.push_back(one);
  for (const auto& one : lab::emulator::take_diagnostics()) result.words.push_back(one);
  return result;
}

// With so many OS threads in all, one of which runs the kernel.
template <class Launches>
said observe_with(int threads, bool reverse, const Launches& launches) {
  lab::emulator::configure({.threads = threads, .reverse = reverse});
  lab::emulator::reset();
  const observation watching;
  const std::uint64_t before = lab::emulator::batches_counted_elsewhere();
  said result = all_of(watching, launches());
  const std::uint64_t elsewhere = lab::emulator::batches_counted_elsewhere() - before;
  lab::emulator::reset();
  lab::emulator::configure({});
  if (threads == 1) {
    CHECK(elsewhere == 0);
  } else {
    CHECK(elsewhere > 0);
  }
  return result;
}

template <class Launches>
said check_same(const Launches& launches) {
  const bool reverse = GENERATE(false, true);
  INFO("reverse = " << reverse);
  const said alone = observe_with(1, reverse, launches);
  for (const int threads : {2, 3, 6}) {
    INFO(threads << " OS threads");
    const said together = observe_with(threads, reverse, launches);
    CHECK(together.errors == alone.errors);
    CHECK(together.words == alone.words);
    CHECK(together == alone);
  }
  return alone;
}

double metric(const said& all, const std::string& name) {
  return std::get<2>(all.kernels.at(0)).at(name);
}
constexpr const char* loads = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";

}  // namespace

TEST_CASE("observed threads: lanes that diverge, and those that call") {
  device_array<int> in(1024), out(1 << 15);
  const auto* const from = static_cast<const int*>(in.get());
  const said diverged =
      check_same([&] { return std::vector{try_launch(diverge, 60, 256, 0, from, out.get())}; });
  CHECK(metric(diverged, loads) > 60 * 8 * 100);
  const said called = check_same([&] { return std::vector{try_launch(call, 60, 160, 0, from, out.get())}; });
  CHECK(metric(called, loads) > 60 * 5 * 50);
}

TEST_CASE("observed threads: how deep in calls a lane is goes with it from barrier to barrier") {
  device_array<int> in(1024), out(1 << 15);
  const auto* const from = static_cast<const int*>(in.get());
  const said found =
      check_same([&] { return std::vector{try_launch(barrier_in_calls, 60, 128, 0, from, out.get())}; });
  // The two halves of a warp never stand in the same call.
  CHECK(metric(found, loads) == 60 * 4 * 2 * rounds * loads_after_barrier);
}

TEST_CASE("observed threads: collectives, and loops longer than what is kept of a lane") {
  device_array<int> in(1024), out(1 << 15);
  const auto* const from = static_cast<const int*>(in.get());
  check_same([&] { return std::vector{try_launch(meet, 40, 64, 0, from, out.get(), 2500)}; });
  check_same([&] { return std::vector{try_launch(meet, 120, 40, 0, from, out.get(), 100)}; });
}

TEST_CASE("observed threads: blocks that wait for each other") {
  device_array<int> in(1024), out(1 << 15);
  const auto* const from = static_cast<const int*>(in.get());
  const said found =
      check_same([&] { return std::vector{try_launch(cooperate, 24, 64, 0, from, out.get())}; });
  // Of each warp two halves, which never stand in the same call, and of each the longest of two loops.
  CHECK(metric(found, loads) == 24 * 2 * 2 * 2 * 104);
}

TEST_CASE("observed threads: a kernel that fails in its midst, and the one after it") {
  device_array<int> in(1024), out(1 << 15);
  const auto* const from = static_cast<const int*>(in.get());
  const said found = check_same([&] {
    std::vector<cudaError_t> errors{try_launch(stray_late, 60, 256, 0, from, out.get(), 40u * 256 + 61)};
    lab::emulator::reset();
    errors.push_back(try_launch(stray_late, 30, 256, 0, from, out.get(), ~0u));
    return errors;
  });
  CHECK(found.errors == std::vector<cudaError_t>{cudaErrorLaunchFailure, cudaSuccess});
  REQUIRE(found.words.size() == 1);
  INFO(found.words[0]);
  CHECK(found.words[0].find("block (40,0,0): thread (61,0,0) reads 4 bytes at offset 4120") !=
        std::string::npos);
}

TEST_CASE("observed threads: the log of a block holds the same requests in the same order") {
  device_array<int> in(1024), out(1 << 15);
  const auto log_of = [&](int threads) {
    lab::emulator::configure({.threads = threads});
    lab::emulator::reset();
    observation watching;
    watching.keep_block(20);
    REQUIRE(try_launch(diverge, 60, 256, 0, static_cast<const int*>(in.get()), out.get()) == cudaSuccess);
    lab::emulator::configure({});
    std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uintptr_t>>
        requests;
    for (const auto& one : watching.kept_blocks().at(0).log.requests()) {
      requests.emplace_back(one.place, one.warp, one.lanes, one.cost.units,
                            one.address[static_cast<unsigned>(std::countr_zero(one.lanes))]);
    }
    return requests;
  };
  const auto alone = log_of(1);
  CHECK(alone.size() > 1000);
  CHECK(log_of(3) == alone);
}

TEST_CASE("observed threads: a launch that is not computed again is counted as it was") {
  device_array<int> in(1024), out(1 << 15);
  const auto* const from = static_cast<const int*>(in.get());
  const auto launches = [&] {
    std::vector<cudaError_t> errors;
    for (int launch = 0; launch < 6; ++launch) {
      errors.push_back(try_launch(diverge, 100, 256, 0, from, out.get()));
    }
    return errors;
  };
  lab::emulator::compute_or_recall = lab::emulator::recall_or_compute;
  const std::uint64_t before = lab::emulator::recalled_launches();
  const said alone = observe_with(1, false, launches);
  const std::uint64_t recalled_alone = lab::emulator::recalled_launches() - before;
  ++lab::emulator::effects_of_kernels.unseen_changes;
  const said together = observe_with(3, false, launches);
  const std::uint64_t recalled_together = lab::emulator::recalled_launches() - before - recalled_alone;
  lab::emulator::compute_or_recall = nullptr;
  CHECK(together == alone);
  CHECK(recalled_alone > 0);
  CHECK(recalled_together > 0);
  CHECK(std::fmod(metric(alone, loads), 6) == 0);
}
