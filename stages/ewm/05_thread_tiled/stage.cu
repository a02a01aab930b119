// Each thread computes 48 consecutive outputs. It appends the values of the ten spans before its first output
// to an empty run: its warm-up. Each further average is one value more. What leaves a window of ten spans is
// not subtracted: it weighs less than 2e-9, and fades.
//
// A gap of one double after every 48 lets threads begin 49 apart, so no two lanes of a half warp meet in a
// bank. Averages replace a thread's values in the tile, so that the block stores neighbouring ones.
#include "stages/ewm/operations.hpp"

namespace lab::ewm::thread_tiled {
namespace {

constexpr int block_threads = 64;
constexpr int thread_outputs = 48;
constexpr int tile_outputs = block_threads * thread_outputs;  // 3072
constexpr double spans = 10;

// At most 2^40, which no block holds.
std::int64_t halo_of(double span) {
  return static_cast<std::int64_t>(std::ceil(std::min(spans * span, 0x1p40)));
}

// Where value k of the tile lies.
__host__ __device__ constexpr int padded(int k) {
  // exercise: padding
  return k + k / thread_outputs;
  // end
}

// The run of a thread whose warm-up lacks values: from global memory, and rarely.
template <class Operation>
__device__ typename Operation::state warm_up_of(std::int64_t needed, const double* values, std::int64_t end,
                                                const Operation& operation) {
  std::int64_t begin = end;
  for (std::int64_t count = 0; begin > 0 && count < needed;) count += is_present(values[--begin]) ? 1 : 0;
  typename Operation::state run = operation.identity();
  for (std::int64_t j = begin; j < end; ++j) operation.append(run, values[j]);
  return run;
}

template <class Operation>
__global__ void __launch_bounds__(block_threads)
    average_kernel(const double* __restrict__ values, double* __restrict__ averages, std::int64_t n, int halo,
                   Operation operation) {
  // tile[padded(k)] holds input first - halo + k; the outputs of the block begin at `first`.
  double* tile = dynamic_shared<double>();
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_outputs;
  for (int k = thread; k < tile_outputs + halo; k += block_threads) {
    const std::int64_t j = first - halo + k;
    tile[padded(k)] = j >= 0 && j < n ? values[j] : static_cast<double>(NAN);
  }
  __syncthreads();

  const int own = halo + thread * thread_outputs;
  typename Operation::state run = operation.identity();
  for (int k = own - halo; k < own; ++k) operation.append(run, tile[padded(k)]);
  const std::int64_t i = first + thread * thread_outputs;
  const std::int64_t needed = halo > operation.min_periods ? halo : operation.min_periods;
  if (i > halo && i < n && run.values < needed) run = warm_up_of(needed, values, i, operation);

  // exercise: outputs
  // By now the threads behind this one have read its values.
  __syncthreads();
  for (int k = own; k < own + thread_outputs; ++k) {
    operation.append(run, tile[padded(k)]);
    tile[padded(k)] = operation.finish(run);
  }
  // end
  __syncthreads();
  for (int k = thread; k < tile_outputs; k += block_threads) {
    if (first + k < n) averages[first + k] = tile[padded(halo + k)];
  }
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((in.n + tile_outputs - 1) / tile_outputs);
  const int halo = static_cast<int>(halo_of(in.span));
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    lab::launch(average_kernel<Operation>, dim3(blocks), dim3(block_threads),
                static_cast<std::size_t>(padded(tile_outputs + halo)) * sizeof(double), stream, in.values,
                out.averages, in.n, halo, operation);
  });
}

std::string unsupported(const problem::parameters& p) {
  int device = 0;
  int max_bytes = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&max_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const std::int64_t halo = halo_of(problem::span(p));
  // A ninth byte a value for the gaps.
  const std::int64_t max_halo = max_bytes / std::int64_t{sizeof(double) + 1} - tile_outputs;
  if (halo <= max_halo) return "";
  return "10 spans are " + std::to_string(halo) +
         " values before each thread's outputs: a block has shared memory for at most " +
         std::to_string(max_halo);
}

// As the window of ten spans: what is left out had a part of decay^(10 spans) of all weight, at most e^-20.
const registration<problem> registered{
    LAB_PATH,
    {.idea = "beside the ladder: 48 outputs one after another, from a warm-up of 10 spans",
     .launch = launch,
     .unsupported = unsupported,
     .tile = tile_outputs,
     .owner_of = consecutive_owner<tile_outputs, thread_outputs>,
     .traits = {.forgets = 4.2e-9}}};

}  // namespace
}  // namespace lab::ewm::thread_tiled
