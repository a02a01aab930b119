// Mistakes that many programs have, each beside the right program that looks much like it: the one is named,
// with its line, and nothing is said of the other.
#include <string>

#include "tests/emulate/emulate_call.hpp"

namespace {

using lab::test::compiled;
using lab::test::emulate;
using lab::test::expect;
using lab::test::outcome;
using lab::test::put;
using lab::test::strings;
using lab::test::temporary_directory;

// Nothing is said of a right program.
void expect_right(const strings& arguments, const std::string& output) {
  const outcome found = emulate(arguments);
  expect(found, 0, {output});
  CHECK(found.text.find("lab: fault") == std::string::npos);
  CHECK(found.text.find("warning") == std::string::npos);
}

// Loops that never end, and those whose state lies in memory alone, which end.
constexpr const char* loops = R"cuda(
#include <cmath>
#include <cstdio>
#include <cstdlib>
__global__ void raise(double* most) {
  auto* bits = reinterpret_cast<unsigned long long*>(most);
  double seen = *most, assumed;
  do {
    assumed = seen;
    const double greater = threadIdx.x > assumed ? threadIdx.x : assumed;
    seen = __longlong_as_double(atomicCAS(bits, __double_as_longlong(assumed), __double_as_longlong(greater)));
  } while (assumed != seen);
}
__global__ void flag(volatile int* set) {
  while (*set == 0) {}
}
__global__ void plain_flag(int* set) { while (*set == 0) {} }
__global__ void count_turns(volatile int* set, int* out) { for (int n = 0; *set == 0; ++n) out[1] = n; }
__global__ void lock(int* taken) {
  while (atomicCAS(taken, 0, 1) != 0) {}
}
__global__ void barriers(int* left) {
  while (left[0] == 0) __syncthreads();
}
__global__ void votes(volatile int* left) {
  while (__any_sync(~0u, *left == 0)) {}
}
__global__ void count_shared(int n, int* out) {
  __shared__ int left;
  if (threadIdx.x == 0) left = n;
  __syncthreads();
  while (left > 0) { __syncthreads(); if (threadIdx.x == 0) --left; __syncthreads(); }
  *out = 1;
}
__global__ void count_locked(int n, int* taken, volatile int* count) {
  for (bool done = false; !done;) {
    while (atomicCAS(taken, 0, 1) != 0) {}
    __threadfence();
    if (*count >= n) done = true; else *count = *count + 1;
    __threadfence();
    atomicExch(taken, 0);
  }
}
__global__ void wait_for_time(int* set, long long cycles) {
  const long long begin = clock64();
  while (atomicAdd(set, 0) == 0 && clock64() - begin < cycles) {}
}
__global__ void let_time_pass(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {}
}
int main(int count, char** words) {
  double* most; int* n;
  cudaMallocManaged(&most, 64); cudaMallocManaged(&n, 64);
  *most = NAN;
  switch (count > 1 ? words[1][0] : ' ') {
    case 'c': raise<<<1, 128>>>(most); break;
    case 'f': flag<<<2, 64>>>(n); break;
    case 'p': plain_flag<<<1, 32>>>(n); break;
    case 't': count_turns<<<1, 32>>>(n, n); break;
    case 'l': lock<<<1, 256>>>(n); break;
    case 'b': barriers<<<2, 256>>>(n); break;
    case 'v': votes<<<1, 64>>>(n); break;
    default:
      count_shared<<<1, 32>>>(400000, n);
      count_locked<<<2, 8>>>(4000000, n + 1, n + 2);
      wait_for_time<<<1, 64>>>(n + 3, 10000000);
      let_time_pass<<<4, 64>>>(100'000'000'000);
  }
  printf("%s %d %d\n", cudaGetErrorString(cudaDeviceSynchronize()), n[0], n[2]);
}
)cuda";

}  // namespace

TEST_CASE("emulate: a loop that never ends is named with its line in seconds, and a long one is left alone") {
  const temporary_directory directory;
  const std::string source = (directory / "loops.cu").string();
  put(source, loops);
  const std::string object = compiled({}, source);
  const strings wrong[] = {{"cas", "loops.cu:11: raise"},         {"flag", "loops.cu:15: flag"},
                           {"plain", "loops.cu:17: plain_flag"},  {"lock", "loops.cu:20: lock"},
                           {"barriers", "loops.cu:23: barriers"}, {"votes", "loops.cu:26: votes"}};
  for (const strings& one : wrong) {
    const outcome found = emulate({object, "--timeout", "10", "--", one[0]});
    expect(found, 1, {one[1], "waits in a loop for ever", "launch failure"});
    CHECK(found.text.find("running the program again") == std::string::npos);
  }
  // A loop that counts its turns is always in another state: where it was is told when its time is over.
  expect(emulate({object, "--timeout", "2", "--", "turns"}), 1,
         {"loops.cu:18: a kernel was here when the program was ended", "it ran longer than 2 s"});
  expect_right({object}, "no error 1 4000000\n");
  if (LAB_WITH_OBSERVED)
    expect(emulate({"--observe", source, "--timeout", "20", "--", "cas"}), 1, {"loops.cu:11: raise"});
}

TEST_CASE("emulate: the stack grows with its limit, and a recursion beyond it is named") {
  const temporary_directory directory;
  const std::string source = (directory / "deep.cu").string();
  put(source, R"cuda(
#include <cstdio>
__device__ int depth_of(volatile int* n) {
  volatile int local[64];
  local[*n % 64] = *n;
  if (*n == 0) return 0;
  *n = *n - 1;
  return depth_of(n) + (local[0] != -1);
}
__global__ void recurse(int* n, int* out) { *out = depth_of(n); }
int main(int count, char**) {
  int* n; cudaMallocManaged(&n, 64);
  *n = 2500;
  if (count > 1 && cudaDeviceSetLimit(cudaLimitStackSize, 512 << 10) != cudaSuccess) return 3;
  recurse<<<1, 1>>>(n, n + 1);
  const cudaError_t error = cudaDeviceSynchronize();
  printf("%s, %d\n", cudaGetErrorString(error), *n);
}
)cuda");
  expect(emulate({source}), 1,
         {"illegal memory access", "recurse: block (0,0,0): thread (0,0,0) needs more than 256 KiB of stack",
          "cudaLimitStackSize is 1024 bytes"});
  expect_right({source, "--", "raised"}, "no error, 0\n");
}

TEST_CASE(
    "emulate: occupancy follows from threads and shared memory, and a grid of that size may wait for all") {
  const temporary_directory directory;
  const std::string source = (directory / "occupancy.cu").string();
  put(source, R"cuda(
#include <cooperative_groups.h>
#include <cstdio>
__global__ void plain(int* out) { out[threadIdx.x] = 1; }
__global__ void tile(float* out) {
  __shared__ float words[8192];
  words[threadIdx.x * 100] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = words[(threadIdx.x + 1) * 100];
}
__global__ void all_meet(int* out) {
  atomicAdd(out, 1);
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) out[1] = out[0];
}
template <class Kernel> int blocks_of(Kernel* kernel, int threads, size_t bytes) {
  int blocks = -1;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes);
  return blocks;
}
int main() {
  printf("%d %d %d %d %d %d;", blocks_of(plain, 256, 0), blocks_of(plain, 32, 0), blocks_of(plain, 1024, 0),
         blocks_of(plain, 1025, 0), blocks_of(plain, 96, 0), blocks_of(plain, 65, 0));
  printf(" %d %d %d %d;", blocks_of(plain, 128, 48 << 10), blocks_of(plain, 128, 227 << 10),
         blocks_of(plain, 128, 228 << 10), blocks_of(tile, 64, 0));
  int grid, block;
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0);
  printf(" %d %d;", grid, block);
  cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, plain, [](int threads) { return threads * 200; }, 512);
  printf(" %d %d;", grid, block);
  size_t bytes;
  cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 4, 128);
  printf(" %zu;", bytes);
  int* out; cudaMallocManaged(&out, 8);
  void* arguments[] = {&out};
  grid = 4 * blocks_of(all_meet, 32, 0);
  cudaLaunchCooperativeKernel((void*)all_meet, dim3(grid), dim3(32), arguments, 0, 0);
  printf(" %s %d\n", cudaGetErrorString(cudaDeviceSynchronize()), out[1]);
}
)cuda");
  // 228 KiB of shared memory, of which each block takes 1 KiB: 4 of 48 KiB, 6 of 32 KiB, and 56 KiB for 4.
  // 3 blocks of 384 threads have more than any others of 200 bytes a thread.
  expect_right({source}, "8 32 2 0 21 21; 4 1 0 6; 8 1024; 12 384; 57344; no error 4096\n");
}

// Collectives one after the other: with what between them and of what storage MODE says.
constexpr const char* collectives = R"cuda(
#include <cub/cub.cuh>
#include <cuda/barrier>
#include <cstdio>
constexpr int threads = 128;
using Reduce = cub::BlockReduce<int, threads>;
using Scan = cub::BlockScan<int, threads>;
using Load = cub::BlockLoad<int, threads, 2, cub::BLOCK_LOAD_TRANSPOSE>;
using Exchange = cub::BlockExchange<int, threads, 2>;
using Sort = cub::BlockRadixSort<int, threads, 2>;
union storages {
  Reduce::TempStorage reduce; Scan::TempStorage scan; Load::TempStorage load; Exchange::TempStorage exchange;
  Sort::TempStorage sort; int words[threads];
};
#ifdef RIGHT
#define MEET __syncthreads()
#else
#define MEET
#endif
__global__ void loop(const int* in, int* out) {
  __shared__ Reduce::TempStorage storage;
  for (int row = 0; row < 3; ++row) {
    const int sum = Reduce(storage).Sum(in[threadIdx.x] + row);
    if (threadIdx.x == 0) out[row] = sum;
    MEET;
  }
}
__global__ void load_and_scan(const int* in, int* out) {
  __shared__ storages room;
  int items[2];
  Load(room.load).Load(in, items);
  MEET;
  Scan(room.scan).InclusiveSum(items, items);
  out[threadIdx.x] = items[1];
}
__global__ void scan_and_sort(const int* in, int* out) {
  __shared__ storages room;
  int items[2] = {in[threadIdx.x], in[threadIdx.x + 1]}, most;
  Scan(room.scan).ExclusiveSum(items, items, most);
  MEET;
  Sort(room.sort).SortDescending(items);
  if (threadIdx.x == 0) out[0] = items[0] + most;
}
__global__ void exchange_and_words(const int* in, int* out) {
  __shared__ storages room;
  int items[2] = {in[threadIdx.x], in[threadIdx.x + 1]};
  Exchange(room.exchange).BlockedToStriped(items);
  MEET;
  room.words[threadIdx.x] = items[0];
  __syncthreads();
  out[threadIdx.x] = room.words[threads - 1 - threadIdx.x];
}
// Two storages in turn, one warp, a barrier of another kind, DIRECT without any storage: all is right.
__global__ void others(const int* in, int* out) {
  __shared__ Reduce::TempStorage one, two;
  __shared__ cuda::barrier<cuda::thread_scope_block> meet;
  if (threadIdx.x == 0) init(&meet, threads);
  __syncthreads();
  int sum = Reduce(one).Sum(in[threadIdx.x]) + Reduce(two).Sum(1);
  meet.arrive_and_wait();
  sum += Reduce(one).Sum(1);
  using Direct = cub::BlockLoad<int, threads, 2>;
  __shared__ Direct::TempStorage direct;
  int items[2];
  Direct(direct).Load(in, items);
  Direct(direct).Load(in, items);
  if (threadIdx.x == 0) out[blockIdx.x] = sum + items[0];
}
__global__ void own_storage(const int* in, int* out) {
  int sum = Reduce().Sum(in[threadIdx.x]), before;
  MEET;
  Scan().ExclusiveSum(1, before);
  sum += Reduce().Sum(before);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
__global__ void of_a_warp(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 32>;
  __shared__ Reduce::TempStorage storage;
  int sum = Reduce(storage).Sum(in[threadIdx.x]);
  sum += Reduce(storage).Sum(1);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
int main(int, char** words) {
  int *in, *out; cudaMallocManaged(&in, 4 * 260); cudaMallocManaged(&out, 4 * 128);
  for (int i = 0; i < 260; ++i) in[i] = i % 17;
  switch (words[1][0]) {
    case 'l': loop<<<1, threads>>>(in, out); break;
    case 'b': load_and_scan<<<1, threads>>>(in, out); break;
    case 's': scan_and_sort<<<2, threads>>>(in, out); break;
    case 'x': exchange_and_words<<<1, threads>>>(in, out); break;
    case 'p': own_storage<<<2, threads>>>(in, out); break;
    default: others<<<3, threads>>>(in, out); of_a_warp<<<3, 32>>>(in, out + 3);
  }
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
)cuda";

TEST_CASE("emulate: a collective's storage that is used again without a barrier is named, with both lines") {
  const temporary_directory directory;
  const std::string source = (directory / "cub.cu").string();
  put(source, collectives);
  const std::string wrong_object = compiled({}, source), right_object = compiled({"-DRIGHT"}, source);
  const strings wrong[] = {{"loop", "cub.cu:23: loop", "the collective at", "cub.cu:23 has used"},
                           {"both", "cub.cu:33: load_and_scan", "cub.cu:31 has used"},
                           {"sort", "cub.cu:41: scan_and_sort", "cub.cu:39 has used"}};
  for (const strings& one : wrong) {
    strings words = one;
    words[0] = "uses a TempStorage that the collective at";
    expect(emulate({wrong_object, "--", one[0]}), 1, words);
  }
  for (const char* const one : {"loop", "both", "sort", "x", "others", "private"})
    expect_right({right_object, "--", one}, "no error\n");
  if (!LAB_WITH_OBSERVED) return;
  expect(emulate({"--observe", source, "--", "x"}), 1,
         {"cub.cu:49: exchange_and_words", "writes shared memory that thread", "reads at"});
  const std::string observed = compiled({"--observe", "-DRIGHT"}, source);
  for (const char* const one : {"x", "others", "both"})
    expect_right({"--observe", observed, "--", one}, "no error\n");
}

// A tile comes by asynchronous copies, and is waited for as MODE says.
constexpr const char* device_copies = R"cuda(
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <cstdio>
namespace cg = cooperative_groups;
constexpr int n = 64;
#ifdef RIGHT
#define WAIT(what) what
#else
#define WAIT(what)
#endif
__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__global__ void primitives(const float* in, float* out) {
  __shared__ __align__(16) float tile[n];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  WAIT(__pipeline_wait_prior(0));
  __syncthreads();
  out[threadIdx.x] = tile[n - 1 - threadIdx.x];
}
__global__ void own_word(const float* in, float* out) {
  __shared__ __align__(16) float tile[2][n];
  for (int stage = 0; stage < 2; ++stage) {
    __pipeline_memcpy_async(&tile[stage][threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
  }
#ifdef RIGHT
  __pipeline_wait_prior(1);
#else
  __pipeline_wait_prior(2);
#endif
  float sum = tile[0][threadIdx.x];
  __pipeline_wait_prior(0);
  out[threadIdx.x] = sum + tile[1][threadIdx.x];
}
__global__ void ptx(const float4* in, float4* out) {
  __shared__ float4 tile[n];
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(shared_address(&tile[threadIdx.x])), "l"(in + threadIdx.x));
  asm volatile("cp.async.commit_group;");
  WAIT(asm volatile("cp.async.wait_group %0;" :: "n"(0)));
  __syncthreads();
  out[threadIdx.x] = tile[n - 1 - threadIdx.x];
}
__global__ void group(const float* in, float* out) {
  __shared__ float tile[2 * n];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof tile / 2);
  cg::memcpy_async(block, tile + n, in, sizeof tile / 2);
  WAIT(cg::wait_prior<1>(block));
  block.sync();
  float sum = tile[n - 1 - threadIdx.x];
  cg::wait(block);
  out[threadIdx.x] = sum + tile[2 * n - 1 - threadIdx.x];
}
// Waited for, but with no barrier behind it.
__global__ void no_barrier(const float* in, float* out) {
  __shared__ float tile[n];
  __syncthreads();
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  WAIT(__syncthreads());
  out[threadIdx.x] = tile[n - 1 - threadIdx.x];
}
__global__ void of_objects(const float* in, float* out) {
  __shared__ float tile[3][n];
  __shared__ cuda::barrier<cuda::thread_scope_block> meet;
  if (threadIdx.x == 0) init(&meet, n);
  __syncthreads();
  const auto block = cg::this_thread_block();
  cuda::memcpy_async(block, tile[0], in, sizeof tile[0], meet);
  meet.arrive_and_wait();
  float sum = tile[0][n - 1 - threadIdx.x];
  auto pipe = cuda::make_pipeline();
  for (int k = 1; k < 3; ++k) {
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[k][threadIdx.x], in + threadIdx.x, 4, pipe);
    pipe.producer_commit();
  }
  for (int k = 1; k < 3; ++k) {
    pipe.consumer_wait();
    sum += tile[k][threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
int main(int, char** words) {
  float *in, *out; cudaMallocManaged(&in, 4 * n * 4); cudaMallocManaged(&out, 4 * n * 4);
  for (int i = 0; i < 4 * n; ++i) in[i] = i;
  switch (words[1][0]) {
    case 'p': primitives<<<1, n>>>(in, out); break;
    case 'o': own_word<<<1, n>>>(in, out); break;
    case 'x': ptx<<<1, n>>>((float4*)in, (float4*)out); break;
    case 'g': group<<<1, n>>>(in, out); break;
    case 'n': no_barrier<<<1, n>>>(in, out); break;
    default: of_objects<<<1, n>>>(in, out);
  }
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
)cuda";

TEST_CASE("emulate: shared memory to which an asynchronous copy goes is read only behind a wait") {
  if (!LAB_WITH_OBSERVED) return;
  const temporary_directory directory;
  const std::string source = (directory / "tiles.cu").string();
  put(source, device_copies);
  const strings wrong[] = {{"p", "tiles.cu:22: primitives", "tiles.cu:18 may still be writing"},
                           {"own", "tiles.cu:35: own_word", "tiles.cu:27 may still be writing"},
                           {"x", "tiles.cu:45: ptx", "tiles.cu:41 may still be writing"},
                           {"group", "tiles.cu:54: group", "tiles.cu:50 may still be writing"},
                           {"none", "tiles.cu:62: no_barrier", "with no __syncthreads() between"}};
  const std::string wrong_object = compiled({"--observe"}, source);
  const std::string right_object = compiled({"--observe", "-DRIGHT"}, source);
  for (const strings& one : wrong)
    expect(emulate({"--observe", wrong_object, "--", one[0]}), 1, {one[1], one[2]});
  for (const char* const one : {"p", "own", "x", "group", "none", "c"})
    expect_right({"--observe", right_object, "--", one}, "no error\n");
}

TEST_CASE("emulate: an asynchronous copy lands when it is waited for, whether observed or not") {
  const temporary_directory directory;
  const std::string source = (directory / "late.cu").string();
  put(source, R"cuda(
#include <cstdio>
#include <cuda_pipeline.h>
__global__ void late(const int* in, int* out) {
  __shared__ int tile[128];
  for (int k = 0; k < 8; ++k) {
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[128 * k + threadIdx.x], 4, k == 7 ? 4 : 0);
    __pipeline_commit();
#ifndef NO_WAIT
    __pipeline_wait_prior(0);
#endif
    __syncthreads();
    out[128 * k + threadIdx.x] = tile[127 - threadIdx.x];
    __syncthreads();
  }
}
int main() {
  int *in, *out, wrong = 0; cudaMallocManaged(&in, 4096); cudaMallocManaged(&out, 4096);
  for (int i = 0; i < 1024; ++i) in[i] = i;
  late<<<1, 128>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 1024; ++i) wrong += out[i] != (i < 896 ? i ^ 127 : 0);
  printf("%s\n", wrong ? "wrong" : "right");
  return wrong != 0;
}
)cuda");
  expect(emulate({source}), 0, {"right\n"});
  expect(emulate({"-DNO_WAIT", source}), 1, {"wrong\n"});
}

TEST_CASE("emulate: a kernel whose name means several is called what the program calls it") {
  if (!LAB_WITH_OBSERVED) return;
  const temporary_directory directory;
  const std::string source = (directory / "several.cu").string();
  put(source, R"cuda(
#include <cstdio>
__global__ void scale(float* p, float by) { p[threadIdx.x + 1] = p[threadIdx.x] * by; }
__global__ void scale(double* p, double by) { p[threadIdx.x + 1] = p[threadIdx.x] * by; }
int main() {
  float* p;
  cudaMallocManaged(&p, 4096);
  scale<<<1, 32>>>(p, 2);
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
)cuda");
  expect(emulate({"--observe", source}), 1, {"several.cu:3: scale: block (0,0,0)"});
}

TEST_CASE("emulate: a block waits for another one's cuda::atomic to change") {
  const temporary_directory directory;
  const std::string source = (directory / "wait.cu").string();
  put(source, R"cuda(
#include <cstdio>
#include <cuda/atomic>
__global__ void hand_over(cuda::atomic<int, cuda::thread_scope_device>* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 7;
    __syncthreads();
    if (threadIdx.x == 0) { flag->store(1); flag->notify_all(); }
  } else {
    if (threadIdx.x == 0) flag->wait(0);
    __syncthreads();
    out[threadIdx.x] = data[63 - threadIdx.x];
  }
}
int main() {
  int* p;
  cudaMallocManaged(&p, 4096);
  cudaMemset(p, 0, 4096);
  hand_over<<<2, 64>>>((cuda::atomic<int, cuda::thread_scope_device>*)p, p + 64, p + 128);
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
  printf("%d\n", p[190]);
}
)cuda");
  expect_right({source}, "no error\n7\n");
  if (LAB_WITH_OBSERVED) expect_right({"--observe", source}, "no error\n7\n");
}

TEST_CASE("emulate: cuda::atomic has numbers of all widths, and a relaxed one orders nothing") {
  const temporary_directory directory;
  const std::string source = (directory / "orders.cu").string();
  put(source, R"cuda(
#include <cstdio>
#include <cstdint>
#include <cuda/atomic>
#include <cuda_fp16.h>
#ifndef ORDER
#define ORDER memory_order_release
#endif
enum class mood : int { calm, busy };
struct all { std::size_t size; double real; std::int64_t least; __half2 halves; float one; mood now; short bits, below; bool told; unsigned char small; };
__device__ cuda::atomic<int, cuda::thread_scope_device> flag;
__device__ int data;
__global__ void widths(all* to) {
  cuda::atomic_ref<std::size_t> size(to->size); size += 2; size.fetch_max(1u);
  cuda::atomic_ref<double>(to->real).fetch_sub(0.5, cuda::memory_order_relaxed);
  cuda::atomic_ref<std::int64_t>(to->least).fetch_min(-std::int64_t(threadIdx.x));
  cuda::atomic_ref<float>(to->one).fetch_max(float(threadIdx.x));
  mood calm = mood::calm;
  cuda::atomic_ref<mood>(to->now).compare_exchange_strong(calm, mood::busy);
  cuda::atomic_ref<short>(to->bits).fetch_or(1 << threadIdx.x % 8);
  cuda::atomic_ref<bool>(to->told).store(true);
  cuda::atomic_ref<unsigned char>(to->small).fetch_add(1);
  size.fetch_add(5); size.fetch_sub(5u);
  cuda::atomic_ref<float>(to->one).fetch_sub(0u);
  cuda::atomic_ref<short>(to->below).fetch_max(0u);
  atomicAdd(&to->halves, __floats2half2_rn(1, 2));
}
__global__ void begin(bool* fresh, int* word) {
  __shared__ struct { cuda::atomic<bool> ready; unsigned char beside; } both;
  both.beside = 1;
  both.ready.store(true, cuda::memory_order_relaxed);
  cuda::atomic_ref<bool>(*fresh).store(true);
  cuda::atomic_ref<int>(*word).store(3);
}
__global__ void hand_over(int* out) {
  if (blockIdx.x == 0) {
    data = 7;
    flag.store(1, cuda::ORDER);
  } else {
    while (flag.load(cuda::memory_order_acquire) == 0) {}
    *out = data;
  }
}
int main() {
  all* to; cudaMallocManaged(&to, 4096); cudaMemset(to, 0, 4096); to->below = -1;
  bool* fresh; cudaMalloc(&fresh, 1);
  int* word; cudaMalloc(&word, 4);
  begin<<<1, 1>>>(fresh, word);
  int* out = (int*)(to + 1);
  widths<<<1, 32>>>(to);
  hand_over<<<2, 1>>>(out);
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
  printf("%zu %g %ld %g %g %g %d %d %d %d %d, %d\n", to->size, to->real, (long)to->least, __low2float(to->halves), __high2float(to->halves),
         to->one, (int)to->now, to->bits, to->below, to->told, to->small, *out);
}
)cuda");
  const char* const right = "no error\n64 -16 -31 32 64 31 1 255 0 1 32, 7\n";
  expect_right({source}, right);
  if (!LAB_WITH_OBSERVED) return;
  expect_right({"--observe", source}, right);
  expect(emulate({"--observe", "-DORDER=memory_order_relaxed", source}), 1,
         {"orders.cu:41: hand_over: block (1,0,0): thread (0,0,0) reads device memory that thread (0,0,0) of "
          "block (0,0,0) writes at ",
          "orders.cu:37"});
}

TEST_CASE("emulate: latches and semaphores order what their threads do") {
  const temporary_directory directory;
  const std::string source = (directory / "gates.cu").string();
  put(source, R"cuda(
#include <cstdio>
#include <cuda/latch>
#include <cuda/semaphore>
__device__ cuda::binary_semaphore<cuda::thread_scope_device> lock{1};
__device__ int sum;
__global__ void add() {
  __shared__ cuda::latch<cuda::thread_scope_block> ready;
  __shared__ int value;
  if (threadIdx.x == 0) init(&ready, 32);
  __syncthreads();
  if (threadIdx.x < 32) {
    if (threadIdx.x == 5) value = 4;
    ready.count_down();
  } else {
#ifndef NO_WAIT
    ready.wait();
#endif
    if (threadIdx.x == 32) { lock.acquire(); sum += value; lock.release(); }
  }
}
int main() {
  add<<<3, 64>>>();
  const cudaError_t error = cudaDeviceSynchronize();
  int result; cudaMemcpyFromSymbol(&result, sum, 4);
  printf("%s %d\n", cudaGetErrorString(error), result);
}
)cuda");
  expect_right({source}, "no error 12\n");
  if (!LAB_WITH_OBSERVED) return;
  expect_right({"--observe", source}, "no error 12\n");
  expect(
      emulate({"--observe", "-DNO_WAIT", source}), 1,
      {"gates.cu:19: add: block (0,0,0): thread (32,0,0) reads shared memory that thread (5,0,0) writes at ",
       "gates.cu:13"});
}

TEST_CASE("emulate: a stream that is captured from, and not joined, makes no graph") {
  const temporary_directory directory;
  const std::string source = (directory / "fork.cu").string();
  put(source, R"cuda(
#include <cstdio>
__global__ void add(int* to, int by) { *to += by; }
int main() {
  int* to; cudaMallocManaged(&to, 8); to[0] = to[1] = 0;
  cudaStream_t one, other; cudaStreamCreate(&one); cudaStreamCreate(&other);
  cudaEvent_t fork, join; cudaEventCreate(&fork); cudaEventCreate(&join);
  for (bool joins : {true, false}) {
    cudaGraph_t graph; cudaGraphExec_t work;
    cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
    add<<<1, 1, 0, one>>>(to, 1);
    cudaEventRecord(fork, one); cudaStreamWaitEvent(other, fork, 0);
    add<<<1, 1, 0, other>>>(to + 1, 10);
    if (!joins) { cudaEventRecord(join, other); add<<<1, 1, 0, other>>>(to + 1, 10); }
    if (joins) cudaEventRecord(join, other);
    cudaStreamWaitEvent(one, join, 0);
    const cudaError_t wrong_stream = cudaStreamEndCapture(other, &graph), error = cudaStreamEndCapture(one, &graph);
    if (error == cudaSuccess) {
      cudaGraphInstantiate(&work, graph, nullptr, nullptr, 0);
      cudaGraphLaunch(work, one);
      cudaStreamSynchronize(one);
    }
    printf("%s, %s: %d %d\n", cudaGetErrorName(wrong_stream), cudaGetErrorName(error), to[0], to[1]);
  }
}
)cuda");
  expect(emulate({source}), 0,
         {"cudaErrorStreamCaptureUnmatched, cudaSuccess: 1 10\n"
          "cudaErrorStreamCaptureUnmatched, cudaErrorStreamCaptureUnjoined: 1 10\n"});
}

// The host touches what work on a stream may still be using, or has waited for it in one of many ways.
constexpr const char* host_order = R"cuda(
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <thread>
#include <thrust/device_ptr.h>
#include <thrust/reduce.h>
constexpr int n = 256;
__global__ void scale(int* data, int by) { data[threadIdx.x] *= by; }
__global__ void copy(const int* from, int* to) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void announce(int* data, volatile int* flag) {
  data[threadIdx.x] = 5;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *flag = 1;
}
int *managed, *device, *pinned, *more;
cudaStream_t a, b, alone;
cudaEvent_t event;
int sum_of(const int* data) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += data[i];
  return sum;
}
void wrong(char which) {
  switch (which) {
    case 'm': scale<<<1, n>>>(managed, 2); printf("%d\n", managed[3]); break;
    case 'w': copy<<<1, n, 0, a>>>(managed, device); managed[4] = 1; break;
    case 'c': cudaMemcpyAsync(pinned, device, 4 * n, cudaMemcpyDeviceToHost, a); printf("%d\n", sum_of(pinned)); break;
    case 's': cudaMemcpyAsync(device, pinned, 4 * n, cudaMemcpyHostToDevice, a); pinned[7] = 1; break;
    case 'z': scale<<<1, n, 0, a>>>(pinned, 2); printf("%d\n", pinned[3]); break;
    case 'o': scale<<<1, n, 0, alone>>>(managed, 2); cudaStreamSynchronize(0); printf("%d\n", managed[3]); break;
    case 'e': cudaEventRecord(event, a); scale<<<1, n, 0, a>>>(managed, 2); cudaEventSynchronize(event);
      printf("%d\n", managed[3]); break;
    case 'b': scale<<<1, n, 0, a>>>(managed, 2); cudaStreamSynchronize(b); printf("%d\n", managed[3]); break;
    case 'f': cudaMemsetAsync(managed, 1, 4 * n, a); printf("%d\n", managed[3]); break;
    case 'p': scale<<<1, n>>>(managed, 2);
      printf("%s %d %d\n",
             cudaGetErrorString(cudaDeviceSynchronize()), managed[3], managed[4]); break;
    case 'x': scale<<<1, n>>>(managed, 2); printf("%d\n", managed[3]); exit(0);
  }
}
int right() {
  int sum = 0, pageable[n];
  scale<<<1, n>>>(managed, 2); cudaDeviceSynchronize(); sum += sum_of(managed);
  scale<<<1, n, 0, a>>>(managed, 2); cudaStreamSynchronize(a); sum += sum_of(managed);
  scale<<<1, n>>>(managed, 2); cudaMemcpy(pageable, device, 4, cudaMemcpyDeviceToHost); sum += sum_of(managed);
  // Of a blocking stream the default stream's copy waits; and what it is itself waited for counts for all before.
  scale<<<1, n, 0, a>>>(managed, 2); cudaMemcpy(pageable, device, 4, cudaMemcpyDeviceToHost); sum += sum_of(managed);
  scale<<<1, n>>>(managed, 2); scale<<<1, n, 0, b>>>(device, 2); cudaStreamSynchronize(b); sum += sum_of(managed);
  cudaMemcpyAsync(pageable, device, sizeof pageable, cudaMemcpyDeviceToHost, a); sum += sum_of(pageable);
  cudaMemcpyAsync(device, pageable, sizeof pageable, cudaMemcpyHostToDevice, a); pageable[0] = 3;
  scale<<<1, n, 0, alone>>>(managed, 2); cudaEventRecord(event, alone); cudaEventSynchronize(event); sum += sum_of(managed);
  scale<<<1, n, 0, alone>>>(managed, 2); cudaEventRecord(event, alone); cudaStreamWaitEvent(a, event, 0);
  cudaMemcpyAsync(pinned, device, 4 * n, cudaMemcpyDeviceToHost, a); cudaStreamSynchronize(a);
  sum += sum_of(managed) + sum_of(pinned);
  cudaMemcpyAsync(device, pinned, 4 * n, cudaMemcpyHostToDevice, a);
  while (cudaStreamQuery(a) != cudaSuccess) {}
  for (int i = 0; i < n; ++i) pinned[i] = 2;
  scale<<<1, n, 0, a>>>(pinned, 2); cudaEventRecord(event, a);
  while (cudaEventQuery(event) == cudaErrorNotReady) {}
  sum += sum_of(pinned);
  scale<<<1, n, 0, a>>>(managed, 2);
  static int seen;
  cudaLaunchHostFunc(a, [](void*) { seen = sum_of(managed); }, nullptr);
  cudaStreamSynchronize(a); sum += seen;
  // Other memory than the kernel's; only reads of what the kernel reads.
  copy<<<1, n, 0, a>>>(managed, device); sum += managed[5] + more[5]; cudaDeviceSynchronize();
  // The kernel tells by a flag that is polled.
  announce<<<1, n>>>(managed, more);
  while (*(volatile int*)more == 0) {}
  sum += managed[3];
  cudaGraph_t graph; cudaGraphExec_t work;
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  scale<<<1, n, 0, a>>>(managed, 2);
  cudaMemcpyAsync(pinned, managed, 4 * n, cudaMemcpyDefault, a);
  cudaStreamEndCapture(a, &graph);
  cudaGraphInstantiate(&work, graph, nullptr, nullptr, 0);
  cudaGraphLaunch(work, alone); cudaStreamSynchronize(alone); sum += sum_of(pinned) + sum_of(managed);
  scale<<<1, n>>>(managed, 2);
  sum += thrust::reduce(thrust::device_ptr<int>(managed), thrust::device_ptr<int>(managed) + n);
  scale<<<1, n>>>(managed, 0);
  std::thread([] { cudaDeviceSynchronize(); }).join(); sum += sum_of(managed);
  scale<<<1, n>>>(managed, 2); cudaMemset(managed, 1, 8); sum += managed[0];
  scale<<<1, n>>>(managed, 2); cudaFree(device); sum += managed[0];
  return sum;
}
int main(int count, char** words) {
  cudaMallocManaged(&managed, 4 * n); cudaMallocManaged(&more, 4 * n); cudaMalloc(&device, 4 * n);
  cudaMallocHost(&pinned, 4 * n);
  cudaStreamCreate(&a); cudaStreamCreate(&b); cudaStreamCreateWithFlags(&alone, cudaStreamNonBlocking);
  cudaEventCreate(&event);
  for (int i = 0; i < n; ++i) managed[i] = pinned[i] = 1;
  cudaMemset(device, 0, 4 * n);
  if (count > 1) wrong(words[1][0]); else printf("right %d ", right() > 0);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
)cuda";

TEST_CASE("emulate: the host touches what a stream's work uses only after it has waited, in whatever way") {
  if (!LAB_WITH_OBSERVED) return;
  const temporary_directory directory;
  const std::string source = (directory / "ahead.cu").string();
  put(source, host_order);
  const std::string object = compiled({"--observe"}, source);
  const strings wrong[] = {
      {"m", "ahead.cu:27: host code reads 4 bytes of memory that scale may still be using"},
      {"w", "ahead.cu:28: host code writes 4 bytes of memory that copy may still be using"},
      {"c", "ahead.cu:22: host code reads", "ahead.cu:29 may still be writing"},
      {"s", "ahead.cu:30: host code writes", "ahead.cu:30 may still be reading"},
      {"z", "ahead.cu:31: host code reads"},
      {"o", "ahead.cu:32: host code reads"},
      {"e", "ahead.cu:34: host code reads"},
      {"b", "ahead.cu:35: host code reads"},
      {"f", "ahead.cu:36: host code reads 4 bytes of memory that the fill at",
       "ahead.cu:36 may still be writing"},
      {"x", "ahead.cu:40: host code reads"}};
  for (const strings& one : wrong) {
    strings words = one;
    words[0] = "it has not waited for the device";
    expect(emulate({"--observe", object, "--", one[0]}), 1, words);
  }
  expect_right({"--observe", object}, "right 1 no error\n");
  // In one statement with the call that waits: in which order is the compiler's choice.
  const outcome in_one = emulate({"--observe", object, "--", "p"});
  expect(in_one, 0, {"no error", "warning", "ahead.cu:38: host code reads", "the statement waits"});
  CHECK(in_one.text.find("lab: fault") == std::string::npos);
}

// Indices beyond static shared arrays, and what looks much like them.
constexpr const char* shared_bounds = R"cuda(
#include <cstdio>
#include <vector>
constexpr int n = 64;
__global__ void histogram(const int* in, unsigned* out) {
  __shared__ unsigned bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[threadIdx.x] % 64], 1u);
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}
__global__ void smooth(const int* in, int* out) {
  __shared__ int row[n];
  row[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = row[threadIdx.x] + row[threadIdx.x + 1];
}
template <class T> __global__ void stencil(const T* in, T* out) {
  __shared__ T tile[4][n];
  for (int k = 0; k < 4; ++k) tile[k][threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[-1 + int(threadIdx.x) / 32][threadIdx.x];
}
struct pair { int key, value; };
__global__ void right(const int* in, int* out) {
  __shared__ int row[n + 2], all[4][n];
  __shared__ pair pairs[n];
  extern __shared__ int words[];
  int* const end = &row[n + 2];
  int* const before = &row[threadIdx.x] - 1;
  row[threadIdx.x + 1] = in[threadIdx.x];
  if (threadIdx.x == 0) row[0] = row[n + 1] = 0;
  pairs[threadIdx.x].key = threadIdx.x; pairs[threadIdx.x].value = (int)1.5f;
  words[threadIdx.x + n] = 2;
  for (int k = 0; k < 4; ++k) all[0][k * n + threadIdx.x] = k, all[k][threadIdx.x] += 1;
  __syncthreads();
  int sum = before < end ? row[threadIdx.x] + row[threadIdx.x + 2] : 0;
  sum += threadIdx.x > 0 ? row[threadIdx.x - 1] : 0;
  const pair mine = pairs[pairs[threadIdx.x].key];
  float as_real = all[3][threadIdx.x];
  sum += mine.value + words[2 * n - 1 - threadIdx.x] * all[1][threadIdx.x] + as_real;
  out[threadIdx.x] = sum - sizeof(row[0]) + sizeof pairs[0];
}
// Other variables of these names.
__device__ int others(const int* row, int (&bins)[4], int at) {
  int tile[2] = {row[at], 1}, *all[2] = {&tile[0], tile + 1}, words[3], pairs[4] = {1, 2, 3, 4};
  words[2] = tile[1];
  return bins[3] + *all[1] + words[2] + pairs[at % 4];
}
__global__ void use_others(const int* in, int* out) { int bins[4] = {1, 2, 3, 4}; *out = others(in, bins, 3); }
int main(int, char** words) {
  int *in, *out; cudaMallocManaged(&in, 4 * n); cudaMallocManaged(&out, 4 * n);
  for (int i = 0; i < n; ++i) in[i] = i;
  std::vector<bool> row(3); row[2] = row[1];
  switch (words[1][0]) {
    case 'h': histogram<<<1, n>>>(in, (unsigned*)out); break;
    case 's': smooth<<<1, n>>>(in, out); break;
    case 't': stencil<int><<<1, n>>>(in, out); break;
    default: right<<<1, n, 8 * n>>>(in, out); use_others<<<1, 1>>>(in, out);
  }
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
)cuda";

TEST_CASE(
    "emulate: an index beyond a static shared array is stopped at its line, and nothing else is touched") {
  const temporary_directory directory;
  const std::string source = (directory / "bounds.cu").string();
  put(source, shared_bounds);
  const strings wrong[] = {
      {"h",
       "bounds.cu:9: histogram: block (0,0,0): thread (16,0,0) accesses the shared array bins at "
       "offset 64 of its 64 bytes"},
      {"s",
       "bounds.cu:17: smooth: block (0,0,0): thread (63,0,0) accesses the shared array row at "
       "offset 256 of its 256 bytes"},
      {"t",
       "bounds.cu:23: stencil<int>: block (0,0,0): thread (0,0,0) accesses the shared array tile "
       "at offset -256 of its 1024 bytes"}};
  const auto try_all = [&](const strings& options) {
    strings call = options;
    call.insert(call.end(), {compiled(options, source), "--", ""});
    for (const strings& one : wrong) {
      call.back() = one[0];
      expect(emulate(call), 1, {one[1]});
    }
    call.back() = "right";
    expect_right(call, "no error\n");
  };
  try_all({});
  if (LAB_WITH_OBSERVED) try_all({"--observe"});
}

constexpr const char* shared_pointer = R"cuda(
#include <cstdio>
__device__ void put(int* at, int k) {
  at[k] = k;
}
__global__ void fill(int* out, int beyond) {
  __shared__ int row[64];
  put(row, threadIdx.x + beyond);
  __syncthreads();
  out[threadIdx.x] = row[63 - threadIdx.x];
}
int main(int count, char**) {
  int* out; cudaMalloc(&out, 256);
  fill<<<1, 64>>>(out, count - 1);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
)cuda";

TEST_CASE("emulate: an observed access through a pointer that misses all shared arrays is stopped") {
  if (!LAB_WITH_OBSERVED) return;
  const temporary_directory directory;
  const std::string source = (directory / "pointer.cu").string();
  put(source, shared_pointer);
  expect(emulate({"--observe", source, "--", "beyond"}), 1,
         {"pointer.cu:4: fill: block (0,0,0): thread (63,0,0) writes 4 bytes of shared memory outside every "
          "variable: at offset 256 of row of 256 bytes"});
  expect_right({"--observe", source}, "no error\n");
}

// Objects with virtual functions, made by the host or by a kernel.
constexpr const char* virtual_functions = R"cuda(
#include <cstdio>
#include <new>
struct shape {
  __host__ __device__ virtual float area() const = 0;
  __host__ __device__ virtual ~shape() {}
};
struct rectangle : shape {
  float a, b;
  __host__ __device__ rectangle(float a, float b) : a(a), b(b) {}
  __host__ __device__ float area() const override { return a * b; }
};
struct circle : shape {
  float r;
  __host__ __device__ circle(float r) : r(r) {}
  __host__ __device__ float area() const override { return 3 * r * r; }
};
__global__ void make(circle* to, int n) { if (threadIdx.x < n) new (to + threadIdx.x) circle(threadIdx.x); }
__global__ void measure(const shape* const* shapes, const shape* one, float* out) {
  const shape* const s = shapes != nullptr ? shapes[threadIdx.x] : one;
  out[threadIdx.x] = s->area();
}
__global__ void gather(const circle* from, const shape** shapes) { shapes[threadIdx.x] = from + threadIdx.x; }
__global__ void plain(const rectangle* s, float* out) { *out = s->a; }
int main(int, char** words) {
  rectangle made(3, 4), *copied, *managed;
  circle *circles, *more;
  float* out;
  const shape** shapes;
  cudaMalloc(&copied, sizeof made); cudaMallocManaged(&out, 64); cudaMalloc(&circles, 4 * sizeof(circle));
  cudaMalloc(&more, 4 * sizeof(circle)); cudaMalloc(&shapes, 64); cudaMallocManaged(&managed, sizeof made);
  new (managed) rectangle(2, 2);
  cudaMemcpy(copied, &made, sizeof made, cudaMemcpyHostToDevice);
  if (words[1][0] == 'c') measure<<<1, 1>>>(nullptr, copied, out);
  if (words[1][0] == 'm') measure<<<1, 1>>>(nullptr, managed, out);
  if (words[1][0] == 'r') {
    make<<<1, 32>>>(circles, 4);
    cudaMemcpy(more, circles, 4 * sizeof(circle), cudaMemcpyDeviceToDevice);
    gather<<<1, 4>>>(more, shapes);
    measure<<<1, 4>>>(shapes, nullptr, out);
    plain<<<1, 1>>>(copied, out + 4);
  }
  cudaError_t error = cudaDeviceSynchronize();
  printf("%s %g %g\n", cudaGetErrorString(error), out[3], out[4]);
}
)cuda";

TEST_CASE("emulate: a kernel calls no virtual function of an object that the host has made") {
  if (!LAB_WITH_OBSERVED) return;
  const temporary_directory directory;
  const std::string source = (directory / "virtual.cu").string();
  put(source, virtual_functions);
  const std::string object = compiled({"--observe"}, source);
  for (const char* const one : {"copied", "managed"})
    expect(
        emulate({"--observe", object, "--", one}), 1,
        {"virtual.cu:21: measure: block (0,0,0): thread (0,0,0) reads the address of the virtual functions"});
  expect_right({"--observe", object, "--", "right"}, "no error 27 3\n");
}
