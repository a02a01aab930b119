// The pipelines of bulk_copy_test.cpp, of observed kernels: what is wrong with them is told with both lines.
#include "common/emulator/observe/observation.hpp"
#include "tests/emulator/bulk_copy_test.cpp"

namespace {

// Of six launches, whose copies end in different orders, and both orders of the threads.
std::vector<std::string> faults_of(mistake wrong) {
  std::vector<std::string> texts;
  for (const bool reverse : {false, true}) {
    lab::emulator::configure({.reverse = reverse});
    lab::emulator::reset();
    const lab::emulator::observation watching;
    for (std::string& text : results_of(wrong, 8).texts) texts.push_back(std::move(text));
    for (const lab::emulator::observed_fault& one : watching.faults()) texts.push_back(one.text);
  }
  lab::emulator::reset();
  return texts;
}

}  // namespace

TEST_CASE("observed: a right pipeline of bulk copies has no race, and its copies are not counted", "[bulk]") {
  lab::emulator::configure({.reverse = GENERATE(false, true)});
  lab::emulator::reset();
  const lab::emulator::observation watching;
  CHECK(results_of(mistake::none, 8).is_right);
  CHECK(watching.faults().empty());
  for (const lab::emulator::observed_fault& one : watching.faults()) UNSCOPED_INFO(one.text);
  const auto kernels = watching.kernels();
  REQUIRE(kernels.size() == 1);
  const auto& metrics = kernels.front().metrics;
  CHECK(metrics.at("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") == 0);
  // Of six launches, with eight tiles of 64 values each.
  CHECK(metrics.at("lab__bulk_copies.sum") == 6 * 2 * 8);
  CHECK(metrics.at("lab__bulk_copy_bytes_mem_global_op_ld.sum") == 6 * 8 * 64 * 4);
  CHECK(metrics.at("lab__bulk_copy_bytes_mem_global_op_st.sum") == 6 * 8 * 64 * 4);
  // The first warp waits for tiles and, but once, for stores; thread 32 for room; thread 64 for results.
  CHECK(metrics.at("lab__phase_waits.sum") == 6 * (32 * (8 + 7) + (8 - 3) + 8));
}

TEST_CASE("observed: a tile read before it has landed, or filled while it is read", "[bulk]") {
  const std::string of_copy =
      "shared memory that a bulk copy of thread (32,0,0) at tests/emulator/bulk_copy_test.cpp:" +
      std::to_string(copy_in_line) + " may still be writing";
  CHECK(one_says(faults_of(mistake::no_wait_for_full), "reads " + of_copy));
  CHECK(one_says(faults_of(mistake::late_phase), "reads " + of_copy));
  CHECK(one_says(faults_of(mistake::no_wait_for_empty), "thread (32,0,0) arrives once too often in phase 0"));
  const auto refilled = faults_of(mistake::early_refill);
  for (const std::string& text : refilled) UNSCOPED_INFO(text);
  CHECK(one_says(refilled, "reads " + of_copy));
  CHECK(one_says(refilled, "thread (32,0,0) writes shared memory that thread ("));
}

TEST_CASE("observed: results written over while they are copied out", "[bulk]") {
  const std::string of_copy =
      "writes shared memory that a bulk copy of thread (64,0,0) at tests/emulator/bulk_copy_test.cpp:" +
      std::to_string(copy_out_line) + " may still be reading";
  CHECK(one_says(faults_of(mistake::no_commit), of_copy));
  CHECK(one_says(faults_of(mistake::one_group_pending), of_copy));
  CHECK_FALSE(faults_of(mistake::no_wait_for_stores).empty());
}

TEST_CASE("observed: ordinary writes that no fence makes known to copies", "[bulk]") {
  const std::string file = "tests/emulator/bulk_copy_test.cpp:";
  for (const mistake wrong : {mistake::no_fence, mistake::fence_of_one, mistake::late_fence}) {
    INFO("mistake " << static_cast<int>(wrong));
    const auto texts = faults_of(wrong);
    for (const std::string& text : texts) UNSCOPED_INFO(text);
    CHECK(one_says(texts, file + std::to_string(copy_out_line) + ": "));
    CHECK(one_says(texts, "thread (64,0,0) begins a bulk copy from shared memory that thread ("));
    CHECK(one_says(texts, ") writes at " + file + std::to_string(result_line) +
                              ", with no fence_proxy_async() between"));
  }
  const auto texts = faults_of(mistake::no_fence_of_zeros);
  CHECK(one_says(texts, "thread (32,0,0) begins a bulk copy into shared memory that thread ("));
}

namespace {

// The thread that copies may call the fence for the others, behind the barrier that orders their writes.
__global__ void fence_of_copier(int* out, bool in_time) {
  __shared__ __align__(128) int values[64];
  if (!in_time && threadIdx.x == 0) lab::fence_proxy_async();
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (in_time) lab::fence_proxy_async();
  lab::copy_out(out, values, 64);
  lab::commit_group();
  lab::wait_group_read<0>();
}

// The writers' warps meet, and one lane of each announces what all of them have fenced.
__global__ void fence_before_arrival_of_warp(int* out) {
  __shared__ __align__(128) int values[64];
  __shared__ mbarrier done;
  if (threadIdx.x == 0) {
    done.initialise(2);
    lab::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x < 64) {
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
    lab::fence_proxy_async();
    __syncwarp();
    if (threadIdx.x % 32 == 0) done.arrive();
  } else if (threadIdx.x == 64) {
    done.wait(0);
    lab::copy_out(out, values, 64);
    lab::commit_group();
    lab::wait_group_read<0>();
  }
}

// A tile that a copy has brought may be copied out as it is.
__global__ void copy_through(const int* in, int* out) {
  __shared__ __align__(128) int values[64];
  __shared__ mbarrier full;
  if (threadIdx.x != 0) return;
  full.initialise(1);
  lab::fence_mbarrier_init();
  for (unsigned turn = 0; turn < 2; ++turn) {
    lab::copy_in(values, in, 64, full);
    full.wait(turn);
    lab::copy_out(out, values, 64);
    lab::commit_group();
    lab::wait_group_read<0>();
  }
}

}  // namespace

TEST_CASE("observed: fences of other threads, and what copies have written", "[bulk]") {
  lab::emulator::configure({.reverse = GENERATE(false, true)});
  lab::emulator::reset();
  const device_array<int> in(numbers(64)), out(std::size_t{64});
  {
    const lab::emulator::observation watching;
    for (int launch = 0; launch < 6; ++launch) {
      run(fence_of_copier, 1, 64, out.get(), true);
      run(fence_before_arrival_of_warp, 1, 96, out.get());
      run(copy_through, 1, 32, in.get(), out.get());
    }
    for (const lab::emulator::observed_fault& one : watching.faults()) UNSCOPED_INFO(one.text);
    CHECK(watching.faults().empty());
  }
  const lab::emulator::observation watching;
  CHECK(try_launch(fence_of_copier, 1, 64, 0, out.get(), false) != cudaSuccess);
  lab::emulator::reset();
}
