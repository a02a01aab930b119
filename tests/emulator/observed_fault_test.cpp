// The faults of fault_test.cpp, of observed kernels; and races that only those show, each beside the right
// kernel.
#include "common/emulator/core/scheduler.hpp"
#include "common/emulator/observe/observation.hpp"
#include "tests/emulator/fault_test.cpp"

// Seen by other files, so that the compiler keeps what is written there and never read.
__device__ int plain_result;

namespace {

__device__ unsigned tickets_taken = 0;
__device__ int table_of_ten[10];
__constant__ float weights[4] = {1, 2, 3, 4};

// NVIDIA's sample threadFenceReduction in small: the ticket is a __device__ variable.
__global__ void sum_with_ticket(int* partial, int* sum) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    __threadfence();
    is_last = atomicInc(&tickets_taken, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  if (threadIdx.x == 0) {
    int total = 0;
    for (unsigned k = 0; k < gridDim.x; ++k) total += partial[k];
    *sum = total;
    tickets_taken = 0;
  }
}

__global__ void write_table(int count) {
  if (static_cast<int>(threadIdx.x) < count) table_of_ten[threadIdx.x] = 1;
}

constexpr int variable_race_line = __LINE__ + 2;
__global__ void write_variable(bool race) {
  if (race || blockIdx.x == 0) plain_result = static_cast<int>(blockIdx.x);
}

__global__ void use_constants(float* to) {
  to[threadIdx.x] = weights[threadIdx.x % 4];
}

// Every thread reads the value again and again, so that most reads need not be noted; then one writes half of
// it or all.
template <class T, class Part>
__global__ void read_often_then_write(T* value, T* to, bool in_shared, bool waits) {
  __shared__ T shared_value;
  if (threadIdx.x == 0) shared_value = *value;
  __syncthreads();
  T* const at = in_shared ? &shared_value : value;
  T sum = 0;
  for (int turn = 0; turn < 8; ++turn) sum += at[0];
  to[threadIdx.x] = sum;
  if (waits) __syncthreads();
  Part* const last = reinterpret_cast<Part*>(at) + sizeof(T) / sizeof(Part) - 1;
  if (threadIdx.x == 127) *last = static_cast<Part>(sum);
}

// A value of two words, of which one thread has written but one.
__global__ void read_half_written(double* to) {
  __shared__ double values[64];
  if (threadIdx.x != 7) values[threadIdx.x] = 1;
  if (threadIdx.x == 7) *reinterpret_cast<float*>(&values[7]) = 1;
  __syncthreads();
  to[threadIdx.x] = values[63 - threadIdx.x];
}

// The value's second word lies behind what the launch has asked for.
__global__ void hang_over_dynamic(double* to) {
  double* const values = lab::dynamic_shared<double>();
  if (threadIdx.x < 4) values[threadIdx.x] = 1;
  to[threadIdx.x] = 1;
}

// ---- blocks that wait for each other

// What this_grid().sync() comes down to.
__device__ void wait_for_grid() {
  __syncthreads();
  if (threadIdx.x == 0) lab::emulator::wait_for_all_blocks(lab::emulator::place::here());
  __syncthreads();
}

// Each block writes its part, and then adds up those of all; what it keeps in shared memory must be its own.
__global__ void add_up_grid(int* parts, int* sums, int rounds, bool waits) {
  __shared__ int own;
  int* const dynamic = lab::dynamic_shared<int>();
  if (threadIdx.x == 0) own = 100 * static_cast<int>(blockIdx.x);
  dynamic[threadIdx.x] = static_cast<int>(blockIdx.x);
  for (int round = 1; round <= rounds; ++round) {
    if (threadIdx.x == 0) parts[blockIdx.x] = round;
    waits ? wait_for_grid() : __syncthreads();
    if (threadIdx.x == 1) {
      int sum = own + dynamic[0];
      for (unsigned block = 0; block < gridDim.x; ++block) sum += parts[block];
      sums[blockIdx.x] = sum;
    }
    waits ? wait_for_grid() : __syncthreads();
  }
}

__global__ void leave_early() {
  if (blockIdx.x == 2) return;
  wait_for_grid();
}

// ---- one block in device memory

constexpr int shift_line = __LINE__ + 5;
__global__ void shift_in_global(const int* from, int* tile, int* to, bool barrier) {
  tile[threadIdx.x] = from[threadIdx.x];
  if (barrier) __syncthreads();
  // Read before it is written here, by the first thread; on a GPU by any.
  to[threadIdx.x] = tile[(threadIdx.x + 32) % 64];
}

constexpr int one_cell_line = __LINE__ + 2;
__global__ void all_write_one(int* to, bool same) {
  to[0] = same ? 5 : static_cast<int>(threadIdx.x);
}

__global__ void warp_exchange(const int* from, int* tile, int* to, bool synchronize) {
  tile[threadIdx.x] = from[threadIdx.x];
  if (synchronize) __syncwarp();
  to[threadIdx.x] = tile[threadIdx.x ^ 1];
}

__global__ void count_then_look(int* count, int* to, bool barrier) {
  if (threadIdx.x == 0) *count = 0;
  __syncthreads();
  atomicAdd(count, 1);
  if (barrier) __syncthreads();
  to[threadIdx.x] = *count;
}

// ---- parts of a word

// Each thread has one value of its own, in place; `stride` 0 gives all of them the first one. A shuffle
// orders nothing.
template <class T>
__global__ void add_in_place(T* values, int stride, bool shuffles) {
  const int own = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * stride;
  int sum = values[own] + 1 + (stride == 0 ? static_cast<int>(threadIdx.x) : 0);
  if (shuffles) sum += __shfl_xor_sync(0xffffffffu, sum, 1) * 0;
  values[own] = static_cast<T>(sum);
}

// Bytes of one word that two blocks write, the words at once, and a byte again. Without the barrier the last
// one is read by its neighbour.
__global__ void bytes_and_words(unsigned char* bytes, int* words, bool barrier) {
  bytes[4 * threadIdx.x + blockIdx.x] = 1;
  if (blockIdx.x != 0) return;
  words[threadIdx.x] = 2;
  if (barrier) __syncthreads();
  bytes[4 * (31 - threadIdx.x) + 2] = 3;
}

constexpr int whole_word_line = __LINE__ + 3;
__global__ void word_over_bytes(unsigned char* bytes) {
  if (blockIdx.x == 0) bytes[threadIdx.x] = 1;
  if (blockIdx.x == 1) reinterpret_cast<unsigned*>(bytes)[threadIdx.x] = 0;
}

// Every thread reads the same bytes often; one writes the last of them.
__global__ void read_text_then_write(char* text, int* to, bool waits) {
  int sum = 0;
  for (int turn = 0; turn < 8; ++turn) {
    for (int k = 0; k < 7; ++k) sum += text[k];
  }
  to[threadIdx.x] = sum;
  if (waits) __syncthreads();
  if (threadIdx.x == 70) text[6] = 'x';
}

// A flag in shared memory, for which another warp waits.
__global__ void hand_over_by_flag(int* to, bool fence) {
  __shared__ int value, flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    value = 7;
    if (fence) __threadfence_block();
    *static_cast<volatile int*>(&flag) = 1;
  }
  if (threadIdx.x != 0) return;
  while (*static_cast<volatile int*>(&flag) == 0) {
  }
  __threadfence_block();
  *to = value;
}

// ---- between blocks

constexpr int volatile_read = __LINE__ + 9;
__global__ void sum_volatile(volatile int* partial, unsigned* tickets, int* sum, bool fence) {
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = 1;
  if (fence) __threadfence();
  if (atomicAdd(tickets, 1u) != gridDim.x - 1) return;
  if (fence) __threadfence();
  int total = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) {
    total += partial[k];
  }
  *sum = total;
}

// Status and value in one word, as a decoupled look-back packs them: whoever waits for it needs no fence.
// Each block takes a ticket before and behind.
__global__ void packed_look_back(volatile unsigned long long* status, unsigned* tickets, unsigned* left,
                                 int* to) {
  if (threadIdx.x != 0) return;
  const unsigned mine = atomicAdd(tickets, 1u);
  unsigned long long before = 0;
  if (mine > 0) {
    do before = status[mine - 1];
    while (before >> 32 == 0);
  }
  status[mine] = 1ull << 32 | ((before & 0xffffffffu) + 1);
  to[mine] = static_cast<int>(before & 0xffffffffu) + 1;
  atomicAdd(left, 1u);
}

// Level by level: each thread is a vertex with two edges.
__global__ void bfs_step(int* level, int vertices, int current, int* changed, int noise) {
  const int vertex = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (vertex >= vertices || level[vertex] != current) return;
  for (int edge = 1; edge <= 2; ++edge) {
    const int next = (vertex * 2 + edge * 37) % vertices;
    if (level[next] == -1) {
      level[next] = current + 1 + (vertex % 2) * noise;
      *changed = 1;
    }
  }
}

constexpr int fresh_line = __LINE__ + 2;
__global__ void add_up(const float* from, float* to) {
  to[threadIdx.x] += from[threadIdx.x];
}

__global__ void add_nothing(int* word) {
  atomicAdd(word, 0);
}

__global__ void write_all(float* to) {
  to[threadIdx.x] = 1;
}

// ---- shared memory

__global__ void flag_in_shared(const int* from, int* to, bool same) {
  __shared__ int any;
  if (threadIdx.x == 0) any = 0;
  __syncthreads();
  if (from[threadIdx.x] > 0) any = same ? 1 : static_cast<int>(threadIdx.x);
  __syncthreads();
  to[threadIdx.x] = any;
}

// ---- order in several steps

enum class way {
  right,
  writer_without_syncwarp,
  reader_without_syncwarp,
  no_fence,
  fence_too_early,
  other_flag
};

// Warp 0 writes, one of its lanes tells a lane of warp 1, which tells one of warp 2, whose lanes read.
__global__ void pass_on(int* tile, int* flags, int* to, way how, bool in_shared) {
  __shared__ int shared_tile[32];
  __shared__ int shared_flags[3];
  int* const data = in_shared ? shared_tile : tile;
  int* const flag = in_shared ? shared_flags : flags;
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  if (threadIdx.x < 3) flag[threadIdx.x] = 0;
  __syncthreads();
  if (warp == 0) {
    if (how == way::fence_too_early && lane == 5) __threadfence();
    data[lane] = 2 * lane;
    if (how != way::writer_without_syncwarp) __syncwarp();
    if (lane == 5) {
      if (how != way::no_fence && how != way::fence_too_early) __threadfence();
      atomicExch(&flag[how == way::other_flag ? 2 : 0], 1);
    }
  } else if (warp == 1) {
    if (lane == 9) {
      while (atomicAdd(&flag[how == way::other_flag ? 2 : 0], 0) == 0) {
      }
    }
    __syncwarp();
    if (lane == 3 && how != way::other_flag) {
      __threadfence();
      atomicExch(&flag[1], 1);
    }
    if (lane == 3 && how == way::other_flag) atomicExch(&flag[1], 1);
  } else {
    if (lane == 0) {
      while (atomicAdd(&flag[1], 0) == 0) {
      }
      __threadfence();
    }
    if (how != way::reader_without_syncwarp) __syncwarp();
    to[lane] = data[31 - lane];
  }
}

struct found {
  cudaError_t error;
  std::vector<lab::emulator::observed_fault> faults;
  std::vector<std::string> warnings;
  std::vector<lab::emulator::observed_kernel> kernels;
};

template <class... Parameters, class... Arguments>
found observe_dynamic(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
                      Arguments... arguments) {
  lab::emulator::reset();
  const lab::emulator::observation watching;
  const cudaError_t error = try_launch(kernel, grid, block, shared_bytes, arguments...);
  lab::emulator::reset();
  return {error, watching.faults(), watching.warnings(), watching.kernels()};
}

template <class... Parameters, class... Arguments>
found observe(void (*kernel)(Parameters...), dim3 grid, dim3 block, Arguments... arguments) {
  return observe_dynamic(kernel, grid, block, 0, arguments...);
}

void check_silent(const found& one) {
  for (const auto& fault : one.faults) UNSCOPED_INFO(fault.text);
  for (const auto& warning : one.warnings) UNSCOPED_INFO(warning);
  CHECK(one.error == cudaSuccess);
  CHECK(one.faults.empty());
  CHECK(one.warnings.empty());
}

void check_text(const found& one, lab::emulator::fault kind, const std::vector<std::string>& parts) {
  CHECK(one.error == cudaErrorLaunchFailure);
  REQUIRE(!one.faults.empty());
  CHECK(one.faults[0].kind == kind);
  INFO(one.faults[0].text);
  std::size_t position = 0;
  for (const std::string& part : parts) {
    INFO("wanted: " << part);
    position = one.faults[0].text.find(part, position);
    REQUIRE(position != std::string::npos);
  }
}

std::string here(int number) {
  return "tests/emulator/observed_fault_test.cpp:" + std::to_string(number);
}

using lab::emulator::fault;

}  // namespace

TEST_CASE("observed: a __device__ variable is device memory, and constant memory is not") {
  const device_array<int> partial(8), sum(1);
  for (int round = 0; round < 2; ++round) {
    const found one = observe(sum_with_ticket, 8, 32, partial.get(), sum.get());
    check_silent(one);
    CHECK(sum.values()[0] == 36);
    CHECK(one.kernels.at(0).metrics.at("lab__atomics_mem_global.sum") == 8);
    CHECK(one.kernels.at(0).metrics.at("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") == 8);
  }
  check_silent(observe(write_table, 1, 32, 10));
  check_silent(observe(write_variable, 3, 1, false));
  check_text(observe(write_variable, 3, 1, true), fault::race,
             {here(variable_race_line),
              "block (1,0,0): thread (0,0,0) writes device memory that thread (0,0,0) of block "
              "(0,0,0) writes"});
  const device_array<float> to(32);
  const found constants = observe(use_constants, 1, 32, to.get());
  check_silent(constants);
  CHECK(constants.kernels.at(0).metrics.at("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") == 0);
}

TEST_CASE("observed: atomic functions that change nothing are counted by warps") {
  const device_array<int> word(1);
  const found one = observe(add_nothing, 4, 256, word.get());
  check_silent(one);
  CHECK(one.kernels.at(0).metrics.at("smsp__thread_inst_executed_per_inst_executed.ratio") == 32);
}

TEST_CASE("observed: a race within a block in device memory") {
  const device_array<int> from(64, 3), tile(64), to(64), count(1);
  const bool reverse = GENERATE(false, true);
  lab::emulator::configure({.reverse = reverse});
  check_silent(observe(shift_in_global, 1, 64, from.get(), tile.get(), to.get(), true));
  const found shifted = observe(shift_in_global, 1, 64, from.get(), tile.get(), to.get(), false);
  check_text(shifted, fault::race,
             {"shift_in_global: block (0,0,0): thread (", "device memory that thread (",
              "with no __syncthreads() between"});
  CHECK(shifted.faults[0].text.find(here(shift_line)) != std::string::npos);
  check_silent(observe(warp_exchange, 1, 32, from.get(), tile.get(), to.get(), true));
  check_text(observe(warp_exchange, 1, 32, from.get(), tile.get(), to.get(), false), fault::race,
             {"warp_exchange", "with no __syncwarp() or __syncthreads() between"});
  check_silent(observe(count_then_look, 1, 64, count.get(), to.get(), true));
  check_text(observe(count_then_look, 1, 64, count.get(), to.get(), false), fault::race, {"count_then_look"});
  check_silent(observe(all_write_one, 1, 64, to.get(), true));
  check_text(observe(all_write_one, 1, 64, to.get(), false), fault::race,
             {here(one_cell_line), "writes device memory that thread"});
  lab::emulator::configure({});
}

template <class T>
void check_own_parts() {
  const device_array<T> values(64, static_cast<T>(0));
  for (const bool shuffles : {false, true}) {
    check_silent(observe(add_in_place<T>, 2, 32, values.get(), 1, shuffles));
    check_silent(observe(add_in_place<T>, 1, 64, values.get(), 1, shuffles));
    check_text(observe(add_in_place<T>, 1, 64, values.get(), 0, shuffles), fault::race,
               {"add_in_place", "device memory that thread"});
  }
}

TEST_CASE("observed: threads that own bytes of one word, and threads that share one") {
  lab::emulator::configure({.reverse = GENERATE(false, true)});
  check_own_parts<short>();
  check_own_parts<unsigned char>();
  const device_array<unsigned char> bytes(128, 0);
  int* const words = reinterpret_cast<int*>(bytes.get());
  check_silent(observe(bytes_and_words, 1, 32, bytes.get(), words, true));
  check_text(observe(bytes_and_words, 1, 32, bytes.get(), words, false), fault::race, {"bytes_and_words"});
  check_text(observe(bytes_and_words, 2, 32, bytes.get(), words, true), fault::race,
             {"bytes_and_words", "nothing orders the two blocks"});
  check_text(observe(word_over_bytes, 2, 32, bytes.get()), fault::race, {"word_over_bytes"});
  const device_array<char> text(8, 'a');
  const device_array<int> to(128);
  check_silent(observe(read_text_then_write, 1, 128, text.get(), to.get(), true));
  check_text(observe(read_text_then_write, 1, 128, text.get(), to.get(), false), fault::race,
             {"read_text_then_write"});
  lab::emulator::configure({});
}

TEST_CASE("observed: what happened before is handed on by warps, elected lanes and further warps") {
  lab::emulator::configure({.reverse = GENERATE(false, true)});
  const bool in_shared = GENERATE(false, true);
  const device_array<int> tile(32), flags(3), to(32);
  const auto pass = [&](way how) {
    return observe(pass_on, 1, 96, tile.get(), flags.get(), to.get(), how, in_shared);
  };
  check_silent(pass(way::right));
  CHECK(to.values()[1] == 60);
  for (const way how : {way::writer_without_syncwarp, way::reader_without_syncwarp, way::no_fence,
                        way::fence_too_early, way::other_flag}) {
    CAPTURE(static_cast<int>(how));
    check_text(pass(how), fault::race,
               {"pass_on", in_shared ? "shared memory that thread" : "device memory that thread"});
  }
  lab::emulator::configure({});
}

TEST_CASE("observed: a volatile flag in shared memory hands over what a fence stands behind") {
  for (const bool reverse : {false, true}) {
    lab::emulator::configure({.reverse = reverse});
    const device_array<int> to(1);
    check_silent(observe(hand_over_by_flag, 1, 64, to.get(), true));
    CHECK(to.values()[0] == 7);
    check_text(observe(hand_over_by_flag, 1, 64, to.get(), false), fault::race,
               {"hand_over_by_flag: block (0,0,0): thread (", "shared memory that thread"});
  }
  lab::emulator::configure({});
}

TEST_CASE("observed: volatile partial results need a fence, and a word that is waited for does not") {
  const device_array<int> partial(8), sum(1), to(8);
  const device_array<unsigned> tickets(1), left(1);
  check_silent(observe(sum_volatile, 8, 32, static_cast<volatile int*>(partial.get()), tickets.get(),
                       sum.get(), true));
  CHECK(sum.values()[0] == 8);
  const device_array<int> fresh(8);
  const device_array<unsigned> more(1);
  check_text(
      observe(sum_volatile, 8, 32, static_cast<volatile int*>(fresh.get()), more.get(), sum.get(), false),
      fault::race,
      {here(volatile_read), "sum_volatile: block (7,0,0): thread (0,0,0) reads device memory",
       "no __threadfence()"});
  const device_array<unsigned long long> status(8);
  const device_array<unsigned> first(1);
  check_silent(observe(packed_look_back, 8, 32, static_cast<volatile unsigned long long*>(status.get()),
                       first.get(), left.get(), to.get()));
  CHECK(to.values()[7] == 8);
}

TEST_CASE("observed: a flag that many set to one value is told from a race that changes a result") {
  constexpr int vertices = 256;
  const auto search = [](int noise) {
    std::vector<int> start(vertices, -1);
    for (int k = 0; k < vertices; k += 3) start[static_cast<std::size_t>(k)] = 0;
    const device_array<int> level(start), changed(1);
    return observe(bfs_step, 4, 64, level.get(), vertices, 0, changed.get(), noise);
  };
  const found right = search(0);
  for (const auto& one : right.faults) UNSCOPED_INFO(one.text);
  CHECK(right.error == cudaSuccess);
  CHECK(right.faults.empty());
  REQUIRE(!right.warnings.empty());
  CHECK(right.warnings[0].find("the same value") != std::string::npos);
  check_text(search(5), fault::race, {"bfs_step", "device memory that thread"});
  const device_array<int> from(64, 1), to(64);
  check_silent(observe(flag_in_shared, 1, 64, from.get(), to.get(), true));
  check_text(observe(flag_in_shared, 1, 64, from.get(), to.get(), false), fault::race,
             {"writes shared memory that"});
}

TEST_CASE("observed: device memory that nobody has written") {
  const device_array<float> from(32, 1.0f);
  float* fresh = nullptr;
  REQUIRE(cudaMalloc(&fresh, 128) == cudaSuccess);
  lab::emulator::reset();
  const lab::emulator::observation watching;
  CHECK(try_launch(add_up, 1, 32, 0, from.get(), fresh) == cudaErrorLaunchFailure);
  REQUIRE(watching.faults().size() == 1);
  CHECK(watching.faults()[0].kind == fault::uninitialised);
  CHECK(watching.faults()[0].text ==
        here(fresh_line) +
            ": (anonymous namespace)::add_up: block (0,0,0): thread (0,0,0) reads 4 bytes "
            "that were never written, at offset 0 of an allocation of 128 bytes");
  lab::emulator::reset();
  // A kernel's writes count, and a byte that happens to be the pattern of fresh memory does.
  float* other = nullptr;
  REQUIRE(cudaMalloc(&other, 128) == cudaSuccess);
  REQUIRE(try_launch(write_all, 1, 32, 0, other) == cudaSuccess);
  CHECK(try_launch(add_up, 1, 32, 0, from.get(), other) == cudaSuccess);
  REQUIRE(cudaMemset(other, 0xcd, 128) == cudaSuccess);
  CHECK(try_launch(add_up, 1, 32, 0, from.get(), other) == cudaSuccess);
  CHECK(watching.faults().size() == 1);
  lab::emulator::reset();
  cudaFree(fresh);
  cudaFree(other);
}

TEST_CASE("observed: blocks that wait for all others keep their threads and their shared memory") {
  const device_array<int> parts(4), sums(4);
  check_silent(observe_dynamic(add_up_grid, 4, 64, 64 * sizeof(int), parts.get(), sums.get(), 3, true));
  CHECK(sums.values() == std::vector<int>{12, 113, 214, 315});
  const found race = observe_dynamic(add_up_grid, 4, 64, 64 * sizeof(int), parts.get(), sums.get(), 1, false);
  check_text(race, fault::race,
             {"add_up_grid", "device memory that thread", "nothing orders the two blocks"});
}

TEST_CASE("observed: a block that leaves while the others wait for it") {
  lab::emulator::reset();
  {
    const lab::emulator::observation watching;
    CHECK(try_launch(leave_early, 4, 64, 0) == cudaErrorLaunchFailure);
  }
  const auto said = lab::emulator::take_diagnostics();
  REQUIRE(said.size() == 1);
  CHECK(said[0].find(
            "leave_early: block (0,0,0) waits here for all blocks of the grid, but block (2,0,0) has left "
            "the kernel") != std::string::npos);
  lab::emulator::reset();
}

template <class T, class Part>
void check_reads_are_remembered() {
  const device_array<T> value(1, 3), to(128);
  const auto kernel = read_often_then_write<T, Part>;
  for (const bool in_shared : {false, true}) {
    check_silent(observe(kernel, 1, 128, value.get(), to.get(), in_shared, true));
    check_text(
        observe(kernel, 1, 128, value.get(), to.get(), in_shared, false), fault::race,
        {"read_often_then_write",
         in_shared ? "writes shared memory that thread" : "writes device memory that thread", "reads at"});
  }
}

TEST_CASE("observed: a word that is read so often that nobody notes it is still one that was read") {
  check_reads_are_remembered<int, int>();
  check_reads_are_remembered<double, double>();
  check_reads_are_remembered<double, float>();
}

TEST_CASE("observed: of a value of two words, one that nobody has written or asked for") {
  const device_array<double> to(64);
  check_text(observe(read_half_written, 1, 64, to.get()), fault::uninitialised,
             {"read_half_written", "thread (56,0,0) reads shared memory that its block has not written"});
  check_silent(observe_dynamic(hang_over_dynamic, 1, 64, 4 * sizeof(double), to.get()));
  check_text(observe_dynamic(hang_over_dynamic, 1, 64, 3 * sizeof(double) + 4, to.get()),
             fault::out_of_bounds,
             {"hang_over_dynamic", "thread (3,0,0) writes 8 bytes at offset 24 of 28 bytes"});
}
