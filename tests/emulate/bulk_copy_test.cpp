// mbarrier, bulk and tensor copies and clusters as the PTX of programs: they run, and what is wrong with them
// is told with its line.
#include <string>
#include <vector>

#include "tests/emulate/emulate_call.hpp"

namespace {

constexpr const char* program = R"cuda(
// Rows of a matrix pass through shared memory by bulk copies, and a block of a cluster reads its neighbour's.
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
__device__ uint32_t shared(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void wait(uint64_t* barrier, uint32_t parity) {
  asm volatile("{ .reg .pred P1; LAB_WAIT: mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1; @P1 bra DONE; bra LAB_WAIT; DONE: }"
               ::"r"(shared(barrier)), "r"(parity) : "memory");
}
constexpr int N = 1024;
__global__ void through(const float* from, float* to, int rows, float* last) {
  __shared__ __align__(128) float tile[2][N];
  __shared__ uint64_t full[2];
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(&full[s])), "r"(1));
#ifndef NO_INIT_FENCE
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  }
  __syncthreads();
  auto load = [&](int row) {
    int s = row % 2;
    uint64_t state;
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %0, [%1], %2;" : "=l"(state) : "r"(shared(&full[s])), "r"(N * 4) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(shared(tile[s])), "l"(from + row * N), "r"(N * 4), "r"(shared(&full[s])) : "memory");
  };
  if (threadIdx.x == 0) load(0);
  for (int row = 0; row < rows; ++row) {
    int s = row % 2;
    if (threadIdx.x == 0 && row + 1 < rows) {
#ifndef NO_READ_WAIT
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
      load(row + 1);
    }
#ifndef NO_WAIT
    wait(&full[s], row / 2 % 2);
#endif
    for (int i = threadIdx.x; i < N; i += blockDim.x) tile[s][i] *= 2;
#ifndef NO_PROXY_FENCE
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + row * N), "r"(shared(tile[s])), "r"(N * 4) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    *last = to[rows * N - 1];  // it has been written
  }
}
// The transpose of a 64 x 64 matrix's 32 x 32 tiles: in by a tensor copy, out by another.
__global__ void boxes(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
  __shared__ __align__(128) float tile[32][32], turned[32][32];
  __shared__ uint64_t full;
  int x = blockIdx.x * 32, y = blockIdx.y * 32;
  uint32_t leader, lane;
  asm volatile("{ .reg .pred p; elect.sync %1|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(leader), "=r"(lane));
  if (threadIdx.x < 32 && leader) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&in) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared(&full)));
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared(&full)), "r"(32 * 32 * 4));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
                 ::"r"(shared(tile)), "l"(&in), "r"(shared(&full)), "r"(x), "r"(y) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared(&full)) : "memory");
  }
  __syncthreads();
  wait(&full, 0);
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) turned[i % 32][i / 32] = tile[i / 32][i % 32];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&out), "r"(shared(turned)), "r"(y), "r"(x) : "memory");
    asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}
__global__ void __cluster_dims__(2, 1, 1) neighbours(int* to) {
  __shared__ int own[32];
  __shared__ uint64_t met;
  uint32_t rank, blocks, there;
  asm volatile("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank;" : "=r"(rank), "=r"(blocks));
  own[threadIdx.x] = 100 * blockIdx.x + threadIdx.x;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(shared(&met)));
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared(&own[threadIdx.x])), "r"(rank ^ 1));
  int value;
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
  to[blockIdx.x * 32 + threadIdx.x] = value + 1000 * blocks;
#ifndef LEAVES
  void* theirs;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(&met), "r"(rank ^ 1));
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(shared(theirs)) : "memory");
  wait(&met, 0);
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
#endif
}
CUtensorMap map_of(float* matrix) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
  CUtensorMap map;
  cuuint64_t sizes[2] = {64, 64}, strides[1] = {64 * 4};
  cuuint32_t box[2] = {32, 32}, every[2] = {1, 1};
  auto encode = (decltype(&cuTensorMapEncodeTiled))function;
  if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, matrix, sizes, strides, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    printf("no map\n");
  return map;
}
int main() {
  int failed = 0;
  const int rows = 9;
  float *a, *b; int* c;
  cudaMallocManaged(&a, rows * N * 4); cudaMallocManaged(&b, rows * N * 4); cudaMallocManaged(&c, 4 * 32 * 4);
  for (int i = 0; i < rows * N; ++i) a[i] = i;
  through<<<1, 128>>>(a, b, rows, (float*)c);
  int wrong = cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < rows * N; ++i) wrong += b[i] != 2 * a[i];
  wrong += *(float*)c != 2 * a[rows * N - 1];
  printf("%d wrong rows\n", wrong);
  failed |= wrong != 0;
  boxes<<<dim3(2, 2), 128>>>(map_of(a), map_of(b));
  wrong = cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < 64 * 64; ++i) wrong += b[i] != a[i % 64 * 64 + i / 64];
  printf("%d wrong boxes\n", wrong);
  failed |= wrong != 0;
  neighbours<<<4, 32>>>(c);
  wrong = cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < 128; ++i) wrong += c[i] != 2000 + 100 * (i / 32 ^ 1) + i % 32;
  printf("%d wrong neighbours\n", wrong);
  return failed | (wrong != 0);
}
)cuda";

constexpr const char* waiting_program = R"cuda(
// Named barriers of blocks with half a warp, and a thread that asks for two barriers in turn.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
__device__ uint32_t shared(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__global__ void turn(int* out, int name) {
  __shared__ int values[48];
  values[threadIdx.x] = threadIdx.x;
#ifdef PART
  if (threadIdx.x >= 32) asm volatile("bar.sync 2, 64;" ::: "memory");
#endif
  asm volatile("bar.sync %0;" ::"r"(name) : "memory");
  int value = values[47 - threadIdx.x];
  asm volatile("barrier.cta.sync.aligned 1;" ::: "memory");
  values[threadIdx.x] = value;
  asm volatile("bar.sync 1, 64;" ::: "memory");
  out[threadIdx.x] = values[threadIdx.x ^ 1];
}
__device__ bool has_ended(uint64_t* barrier) {
  uint32_t ended;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
               : "=r"(ended) : "r"(shared(barrier)) : "memory");
  return ended != 0;
}
__device__ bool looks_ended(uint64_t* barrier) {
  uint32_t ended;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
               : "=r"(ended) : "r"(shared(barrier)) : "memory");
  return ended != 0;
}
__device__ void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(barrier)) : "memory");
}
__global__ void poll(int* out) {
  __shared__ uint64_t first, second, answer;
  __shared__ int value;
  if (threadIdx.x == 0) {
    uint64_t* all[] = {&first, &second, &answer};
    for (uint64_t* one : all) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(one)));
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    bool has_first = false, has_second = false;
    while (!has_first || !has_second) {
      if (!has_first) has_first = has_ended(&first);
      if (!has_second && looks_ended(&second)) {
        has_second = true;
        arrive(&answer);
      }
    }
    *out = value;
  } else if (threadIdx.x == 32) {
    arrive(&second);
    while (!has_ended(&answer)) __nanosleep(20);
    value = 7;
#ifndef NEVER
    arrive(&first);
#endif
  }
}
// A warp fills two slots in turn, and another one reads them: each waits at one barrier and arrives at another.
#ifndef FULL
#define FULL 64
#endif
__global__ void in_turn(int* out) {
  __shared__ int slots[2][32];
  int lane = threadIdx.x % 32;
  if (threadIdx.x >= 32)
    for (int s = 0; s < 2; ++s) asm volatile("bar.arrive %0, 64;" ::"r"(1 + s) : "memory");
  for (int k = 0; k < 6; ++k) {
    int s = k % 2;
    if (threadIdx.x < 32) {
#ifndef NO_EMPTY
      asm volatile("bar.sync %0, 64;" ::"r"(1 + s) : "memory");
#endif
      slots[s][lane] = 10 * k + lane;
#ifndef NO_FULL
      asm volatile("barrier.cta.arrive.aligned %0, %1;" ::"r"(3 + s), "n"(FULL) : "memory");
#endif
    } else {
      __barrier_sync_count(3 + s, 64);
      out[lane] = slots[s][lane ^ 1] + (k == 0 ? 0 : out[lane]);
      if (k < 4) asm volatile("bar.arrive %0, 64;" ::"r"(1 + s) : "memory");
    }
  }
}
// Compiled for two blocks on a multiprocessor a thread has 128 registers, and not 256.
__global__ void __launch_bounds__(256, 2) registers(int* out) {
  if (threadIdx.x < 128) asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
  else asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  if (threadIdx.x == 255) *out = 5;
}
int main() {
  int* out; cudaMallocManaged(&out, 48 * 4);
  registers<<<1, 256>>>(out);
  int wrong = cudaDeviceSynchronize() != cudaSuccess || *out != 5;
  turn<<<1, 48>>>(out, 3);
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < 48; ++i) wrong += out[i] != 47 - (i ^ 1);
  printf("%d wrong turns\n", wrong);
  poll<<<1, 64>>>(out);
  wrong += cudaDeviceSynchronize() != cudaSuccess || *out != 7;
  in_turn<<<1, 64>>>(out);
  wrong += cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < 32; ++i) wrong += out[i] != 150 + 6 * (i ^ 1);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
)cuda";

constexpr const char* object_program = R"cuda(
// cuda::pipeline with roles, cuda::barrier with bytes to come, cuda::ptx, and copies of so many elements.
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <stdio.h>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int N = 64, tiles = 5;
__global__ void roles(const int* in, int* out) {
  __shared__ int slots[2][N];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
#ifdef UNWRITTEN
  __shared__ int never[N];
  if (threadIdx.x < N) out[threadIdx.x] = never[threadIdx.x];
  __syncthreads();
#endif
  bool fills = threadIdx.x < 32;
  auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state,
                                  fills ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  for (int k = 0; k < tiles; ++k) {
    int* slot = slots[k % 2];
    if (fills) {
      pipe.producer_acquire();
      for (int i = threadIdx.x; i < N; i += 32) cuda::memcpy_async(slot + i, in + k * N + i, sizeof(int), pipe);
      pipe.producer_commit();
    } else {
#ifndef NO_CONSUMER_WAIT
      pipe.consumer_wait();
#endif
      int i = threadIdx.x - 32;
      out[k * N + i] = slot[N - 1 - i];
#ifndef NO_RELEASE
      pipe.consumer_release();
#endif
    }
  }
  pipe.quit();
}
__global__ void bytes(const int* in, int* out) {
  __shared__ alignas(128) int tile[N];
  __shared__ barrier full;
  if (threadIdx.x == 0) {
    init(&full, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_global_to_shared(tile, in, sizeof tile, full);
#ifdef MORE
    token = cuda::device::barrier_arrive_tx(full, 1, 2 * sizeof tile);
#else
    token = cuda::device::barrier_arrive_tx(full, 1, sizeof tile);
#endif
  } else {
    token = full.arrive();
  }
  full.wait(std::move(token));
  tile[threadIdx.x] += 1;
#ifndef NO_PROXY_FENCE
  ptx::fence_proxy_async(ptx::space_shared);
#endif
  if (threadIdx.x % 2 == 1) return full.arrive_and_drop();
  full.arrive_and_wait();
  full.arrive_and_wait();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
__global__ void parities(const int* in, int* out) {
  __shared__ alignas(16) int tile[N];
  __shared__ uint64_t full;
  if (ptx::get_sreg_tid_x() == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  for (int k = 0; k < tiles; ++k) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, sizeof tile);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in + k * N, sizeof tile, &full);
    }
#ifdef ONE_PARITY
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
#else
    while (!ptx::mbarrier_try_wait_parity(&full, k % 2)) {}
#endif
    out[k * N + threadIdx.x] = tile[N - 1 - threadIdx.x];
    __syncthreads();
  }
}
// cp.async whose arrival at an mbarrier says that it is over.
__global__ void arrivals(const int* in, int* out) {
  __shared__ alignas(16) int tile[N];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) ptx::mbarrier_init(&full, N);
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [%2];"
               ::"r"((unsigned)__cvta_generic_to_shared(tile + threadIdx.x)), "l"(in + threadIdx.x),
                 "r"((unsigned)__cvta_generic_to_shared(&full)) : "memory");
#ifndef NO_ARRIVAL_WAIT
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
#endif
  out[threadIdx.x] = tile[N - 1 - threadIdx.x];
}
// A copy belongs to a phase of its own barrier, and a wait at another one says nothing of later copies.
__global__ void two_barriers(const int* in, int* out, int* groups) {
  __shared__ int tile[2][N];
  __shared__ barrier first, second;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
  auto block = cg::this_thread_block();
  if (threadIdx.x == 0) {
    init(&first, N);
    init(&second, N);
  }
  auto pipe = cuda::make_pipeline(block, &state);
  cuda::memcpy_async(block, (void*)tile[1], in + N, sizeof tile[1], second);
  cuda::memcpy_async(tile[0] + threadIdx.x, in + threadIdx.x, sizeof(int), first);
#ifndef OTHER_BARRIER
  first.arrive_and_wait();
#endif
  second.arrive_and_wait();
  out[threadIdx.x] = tile[0][N - 1 - threadIdx.x] + tile[1][threadIdx.x];
#ifdef OTHER_BARRIER
  first.arrive_and_wait();
#endif
  if (pipe.quit()) atomicAdd(groups, 1);
}
__global__ void counts(const int* in, int* out) {
  __shared__ int tile[N];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, N, in, size_t{1000});
  cg::wait(block);
  out[threadIdx.x] = tile[N - 1 - threadIdx.x];
}
int main() {
  int *in, *out;
  cudaMallocManaged(&in, tiles * N * 4); cudaMallocManaged(&out, tiles * N * 4);
  for (int i = 0; i < tiles * N; ++i) in[i] = i;
  auto wrong = [&](const char* name, int count, auto right) {
    int result = cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < count; ++i) result += out[i] != right(i);
    printf("%s: %d wrong\n", name, result);
    return result != 0;
  };
  auto turned = [](int i) { return i / N * N + N - 1 - i % N; };
  roles<<<1, 32 + N>>>(in, out);
  int failed = wrong("roles", tiles * N, turned);
  bytes<<<1, N>>>(in, out);
  failed |= wrong("bytes", N, [](int i) { return i + 1; });
  parities<<<1, N>>>(in, out);
  failed |= wrong("parities", tiles * N, turned);
  arrivals<<<1, N>>>(in, out);
  failed |= wrong("arrivals", N, turned);
  counts<<<1, N>>>(in, out);
  failed |= wrong("counts", N, turned);
  out[N] = 0;
  two_barriers<<<1, N>>>(in, out, out + N);
  return failed | wrong("two barriers", N + 1, [](int i) { return i == N ? 1 : 2 * N - 1; });
}
)cuda";

}  // namespace

TEST_CASE("bulk copies, tensor copies and clusters as PTX are right, and wrong ones are told") {
  using lab::test::emulate, lab::test::expect;
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "bulk.cu").string();
  lab::test::put(source, program);
  const std::vector<std::string> right{"0 wrong rows\n0 wrong boxes\n0 wrong neighbours\n"};
  expect(emulate({source}), 0, right);
  expect(emulate({"-DNO_INIT_FENCE", source}), 0,
         {right[0], "warning: ", "bulk.cu:27: begins a copy to a barrier", "bulk.cu:17 with no",
          "fence_mbarrier_init()"});
  expect(emulate({"-DNO_WAIT", source}), 1,
         {"bulk.cu:26: through: block (0,0,0): thread (0,0,0) arrives once too often in phase 0"});
  expect(emulate({"-DNO_READ_WAIT", source}), 1, {" wrong rows\n0 wrong boxes\n"});
  expect(emulate({"-DLEAVES", source}), 1,
         {"bulk.cu:94: neighbours: ", "of its cluster, which has left the kernel"});
  if (!LAB_WITH_OBSERVED) return;
  expect(emulate({"--observe", source}), 0, right);
  expect(emulate({"--observe", "-DNO_PROXY_FENCE", source}), 1,
         {"bulk.cu:48: through: ", "begins a bulk copy from shared memory",
          "with no fence_proxy_async() between"});
}

TEST_CASE("named barriers of part of a warp, and waits that may give up, as PTX") {
  using lab::test::emulate, lab::test::expect;
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "waits.cu").string();
  lab::test::put(source, waiting_program);
  const std::vector<std::string> right{"0 wrong turns\n0 wrong\n"};
  expect(emulate({source}), 0, right);
  expect(emulate({"-DPART", source}), 1,
         {"waits.cu:13: turn: ", "waits for ever at named barrier 3, where 32 of 48 threads are",
          "waits for ever at named barrier 2, where 16 of 64 threads are"});
  expect(emulate({"-DNEVER", source}), 1,
         {"waits.cu:22: poll: block (0,0,0): thread (0,0,0) waits for ever for phase 0 of the barrier "
          "initialised at ",
          "waits.cu:40, of which 1 of 1 arrivals are missing"});
  expect(emulate({"-DNO_FULL", source}), 1,
         {"waits.cu:75: in_turn: ", "waits for ever at named barrier 1, where 32 of 64 threads are",
          "waits.cu:82: thread (32,0,0) waits for ever at named barrier 3, where 32 of 64 threads are"});
  expect(emulate({"-DFULL=96", source}), 1,
         {"waits.cu:79: in_turn: ",
          "arrives at named barrier 3 with 96 threads, but thread (32,0,0) with 64 at ", "waits.cu:82"});
  expect(emulate({"-DFULL=128", "-DNO_EMPTY", source}), 1,
         {"waits.cu:82: in_turn: ",
          "waits at named barrier 3 with 64 threads, but one has arrived with 128 at ", "waits.cu:79"});
  if (!LAB_WITH_OBSERVED) return;
  expect(emulate({"--observe", source}), 0, right);
  expect(emulate({"--observe", "-DNEVER", source}), 1, {"waits for ever for phase 0 of the barrier"});
  expect(emulate({"--observe", "-DNO_EMPTY", source}), 1,
         {"waits.cu:82: in_turn: ", "waits for ever at named barrier 3, where 32 of 64 threads are"});
}

TEST_CASE("objects of cuda:: for pipelines, barriers and bulk copies") {
  using lab::test::emulate, lab::test::expect;
  const lab::test::temporary_directory directory;
  const std::string source = (directory / "objects.cu").string();
  lab::test::put(source, object_program);
  const std::vector<std::string> right{
      "roles: 0 wrong\nbytes: 0 wrong\nparities: 0 wrong\narrivals: 0 wrong\ncounts: 0 wrong\n"
      "two barriers: 0 wrong\n"};
  expect(emulate({source}), 0, right);
  expect(emulate({"-DNO_RELEASE", source}), 1,
         {"objects.cu:26: roles: ", "waits for ever for phase 0 of the barrier",
          "64 of 64 arrivals are missing"});
  expect(emulate({"-DNO_CONSUMER_WAIT", source}), 1, {"roles: ", "waits for ever for phase"});
  expect(emulate({"-DMORE", source}), 1,
         {"objects.cu:61: bytes: ", "waits for ever for phase 0 of the barrier",
          "0 of 64 arrivals and 256 bytes"});
  expect(emulate({"-DONE_PARITY", source}), 1, {"roles: 0 wrong\nbytes: 0 wrong\nparities: "});
  // A copy that nobody has waited for has not landed.
  for (const char* const mistake : {"-DNO_ARRIVAL_WAIT", "-DOTHER_BARRIER"}) {
    const auto outcome = emulate({mistake, source});
    CHECK(outcome.code == 1);
    CHECK(outcome.text.find(right[0]) == std::string::npos);
  }
  if (!LAB_WITH_OBSERVED) return;
  const auto observed = emulate({"--observe", source});
  expect(observed, 0, right);
  CHECK(observed.text.find("lab: fault") == std::string::npos);
  CHECK(observed.text.find("lab: warning") == std::string::npos);
  expect(emulate({"--observe", "-DUNWRITTEN", source}), 0,
         {right[0],
          "warning: ", "objects.cu:17: roles: ", "reads shared memory that its block has not written"});
  expect(emulate({"--observe", "-DOTHER_BARRIER", source}), 1,
         {"two_barriers: block (0,0,0): ", "reads shared memory that an asynchronous copy of thread ",
          " may still be writing: the phase of its barrier has not ended"});
  expect(emulate({"--observe", "-DNO_PROXY_FENCE", source}), 1,
         {"objects.cu:70: bytes: ", "begins a bulk copy from shared memory",
          "with no fence_proxy_async() between"});
}
