// The work is divided by the array's shape, so that every shape fills the device. A few long rows are cut
// into segments, one block each. Many short rows share a block, with 1 to 32 threads for each row. In narrow
// arrays the 256 threads of a block take fewer columns and more rows, in low ones more columns. The total is
// the sum of one row as long as the array, unless rows are padded. Partial sums are an array again; the same
// kernels add them up.
#include <bit>

#include "common/block_reduce.hpp"
#include "common/multiprocessors.hpp"
#include "stages/reduction_2d/problem.hpp"
#include "stages/reduction_2d/span.hpp"

namespace lab::reduction_2d::split {
namespace {

constexpr int row_threads = 512;        // of a block with one row, or a segment
constexpr int short_row_threads = 256;  // of a block with many
constexpr int column_threads = 256;
constexpr int loads = 4;
// Blocks that a multiprocessor works on at a time. The compiler would make room for 8 and leave each thread
// 32 registers, too few for four loads and their addresses.
constexpr int resident = 6;
// Blocks for each multiprocessor: enough that none is left without work for long, and few enough that the
// strips' own sums, 1.7 MB for 20000 columns, are nothing to the array.
constexpr int strips_per_multiprocessor = 4 * resident;

// The sum of a few values by one thread, with four loads in flight.
__device__ float sum_few(const float* __restrict__ span, int count) {
  float sum = 0;
  for (int i = 0; i < count; i += loads) {
    float loaded[loads];
#pragma unroll
    for (int k = 0; k < loads; ++k) loaded[k] = i + k < count ? span[i + k] : 0;
    sum += (loaded[0] + loaded[1]) + (loaded[2] + loaded[3]);
  }
  return sum;
}

template <int threads>
constexpr int block_threads = threads == row_threads ? row_threads : short_row_threads;

// Segment y of the rows, `segment` values, `threads` threads for each: sums[row * segments + y].
template <int threads>
__global__ void __launch_bounds__(block_threads<threads>)
    row_sums_kernel(const float* __restrict__ values, std::int64_t rows, std::int64_t columns,
                    std::int64_t pitch, float* __restrict__ sums, std::int64_t segment) {
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * (block_threads<threads> / threads) + threadIdx.x / threads;
  const std::int64_t begin = blockIdx.y * segment;
  const std::int64_t end = begin + segment < columns ? begin + segment : columns;
  const auto count = static_cast<int>(end - begin);
  const auto rank = static_cast<int>(threadIdx.x % threads);
  float partial = 0;
  if (row < rows) {
    const float* span = values + row * pitch + begin;
    partial = threads == 1 ? sum_few(span, count) : sum_share<threads>(span, count, rank);
  }
  if constexpr (threads == row_threads) {
    partial = block_reduce<row_threads>(partial, sum<float>{});
  } else {
    // exercise: lanes
    for (int distance = threads / 2; distance > 0; distance /= 2) {
      partial += __shfl_xor_sync(0xffffffffu, partial, distance);
    }
    // end
  }
  if (rank == 0 && row < rows) sums[row * gridDim.y + blockIdx.y] = partial;
}

__device__ void add(float& sum, float value) {
  sum += value;
}
// By value: one load of 16 bytes, not of each member.
__device__ void add(float4& sum, float4 value) {
  sum.x += value.x;
  sum.y += value.y;
  sum.z += value.z;
  sum.w += value.w;
}

// Strip y of the rows, `strip` of them, and 2^lane_bits vectors of columns to a block:
// sums[y * pitch_of_sums + column].
template <class Vector>
__global__ void __launch_bounds__(column_threads, resident)
    column_sums_kernel(const float* __restrict__ values, std::int64_t rows, std::int64_t columns,
                       std::int64_t pitch, float* __restrict__ sums, std::int64_t pitch_of_sums,
                       std::int64_t strip, int lane_bits) {
  constexpr int width = sizeof(Vector) / sizeof(float);
  __shared__ Vector of_thread[column_threads];
  const auto thread = static_cast<int>(threadIdx.x);
  const int lanes = 1 << lane_bits;
  const int group = column_threads >> lane_bits;  // rows that a block reads at a time
  const std::int64_t column =
      ((static_cast<std::int64_t>(blockIdx.x) << lane_bits) + (thread & (lanes - 1))) * width;
  const std::int64_t begin = blockIdx.y * strip;
  const std::int64_t end = begin + strip < rows ? begin + strip : rows;
  std::int64_t row = begin + (thread >> lane_bits);
  Vector partial{};
  if (column < columns) {
    for (; row + (loads - 1) * group < end; row += loads * group) {
      Vector loaded[loads];
#pragma unroll
      for (int k = 0; k < loads; ++k) {
        loaded[k] = *reinterpret_cast<const Vector*>(values + (row + k * group) * pitch + column);
      }
#pragma unroll
      for (int k = 0; k < loads; ++k) add(partial, loaded[k]);
    }
    for (; row < end; row += group)
      add(partial, *reinterpret_cast<const Vector*>(values + row * pitch + column));
  }
  of_thread[thread] = partial;
  __syncthreads();
  // exercise: tree
  for (int half = column_threads / 2; half >= lanes; half /= 2) {
    if (thread < half) {
      Vector own = of_thread[thread];
      add(own, of_thread[thread + half]);
      of_thread[thread] = own;
    }
    __syncthreads();
  }
  // end
  if (thread >= lanes) return;
  const auto* of_column = reinterpret_cast<const float*>(&of_thread[thread]);
#pragma unroll
  for (int k = 0; k < width; ++k) {
    if (column + k < columns) sums[blockIdx.y * pitch_of_sums + column + k] = of_column[k];
  }
}

// How the rows of an array are summed up.
struct row_plan {
  row_plan(std::int64_t rows, std::int64_t columns)
      : threads(columns <= 12     ? 1
                : columns <= 24   ? 2
                : columns <= 64   ? 4
                : columns <= 320  ? 8
                : columns <= 4096 ? 32
                                  : row_threads) {
    // Segments of whole steps of a block: of four (128 KiB), or fewer, where there would be too few to fill
    // the device; and no more of them than a grid can be high.
    constexpr std::int64_t step = std::int64_t{4} * loads * row_threads;
    const std::int64_t filling = rows * columns / (std::int64_t{multiprocessors()} * 8);
    const std::int64_t wanted = std::clamp(filling, step, 4 * step);
    segment = parts(std::max(wanted, parts(columns, 0xffff)), step) * step;
    segments = std::max<std::int64_t>(1, parts(columns, segment));
    scratch = segments == 1 ? 0 : rows * segments;
  }

  int threads;  // of a row
  std::int64_t segment;
  std::int64_t segments;
  std::int64_t scratch;  // elements, for the segments' sums
};

void launch_row_sums(const float* values, std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                     float* sums, float* scratch, cudaStream_t stream) {
  const auto sum_rows = [&](const float* from, std::int64_t count, std::int64_t step, std::int64_t segment,
                            std::int64_t segments, int threads, float* to) {
    const int block = threads == row_threads ? row_threads : short_row_threads;
    const auto kernel = threads == 1    ? row_sums_kernel<1>
                        : threads == 2  ? row_sums_kernel<2>
                        : threads == 4  ? row_sums_kernel<4>
                        : threads == 8  ? row_sums_kernel<8>
                        : threads == 32 ? row_sums_kernel<32>
                                        : row_sums_kernel<row_threads>;
    lab::launch(kernel, grid(parts(rows, block / threads), segments), dim3(block), 0, stream, from, rows,
                count, step, to, segment);
  };
  const row_plan plan(rows, columns);
  const bool once = plan.segments == 1;
  sum_rows(values, columns, pitch, plan.segment, plan.segments, plan.threads, once ? sums : scratch);
  if (!once)
    sum_rows(scratch, plan.segments, plan.segments, plan.segments, 1, plan.segments <= 64 ? 8 : row_threads,
             sums);
}

// How the columns of an array are summed up.
struct column_plan {
  column_plan(std::int64_t rows, std::int64_t columns, std::int64_t pitch)
      : wide(pitch % 4 == 0), pitch_of_strips(parts(columns, 4) * 4) {
    const std::int64_t vectors = std::max<std::int64_t>(1, parts(columns, wide ? 4 : 1));
    // A warp's 32, more where the rows are too few for the other threads, less where the columns are.
    const auto bits = [](std::int64_t count) -> int {
      return std::bit_width(static_cast<std::uint64_t>(count));
    };
    const int for_rows = std::max(5, 8 - bits(std::max<std::int64_t>(rows - 1, 0) / loads));
    lane_bits = std::min(bits(vectors - 1), for_rows);
    blocks = parts(columns, std::int64_t{wide ? 4 : 1} << lane_bits);
    const std::int64_t wanted =
        parts(std::int64_t{multiprocessors()} * strips_per_multiprocessor, std::max<std::int64_t>(1, blocks));
    strip = parts(std::max<std::int64_t>(1, rows),
                  std::clamp<std::int64_t>(rows / (2 * loads * group()), 1, wanted));
    strips = std::max<std::int64_t>(1, parts(rows, strip));
    scratch = strips == 1 ? 0 : strips * pitch_of_strips;
  }

  [[nodiscard]] std::int64_t group() const { return column_threads >> lane_bits; }

  bool wide;
  std::int64_t pitch_of_strips;  // a multiple of 16 bytes
  int lane_bits;
  std::int64_t blocks;
  std::int64_t strip;
  std::int64_t strips;
  std::int64_t scratch;  // elements, for the strips' sums
};

void launch_column_sums(const float* values, std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                        float* sums, float* scratch, cudaStream_t stream) {
  const column_plan plan(rows, columns, pitch);
  const bool once = plan.strips == 1;
  lab::launch(plan.wide ? column_sums_kernel<float4> : column_sums_kernel<float>,
              grid(plan.blocks, plan.strips), dim3(column_threads), 0, stream, values, rows, columns, pitch,
              once ? sums : scratch, plan.pitch_of_strips, plan.strip, plan.lane_bits);
  if (once) return;
  launch_column_sums(scratch, plan.strips, columns, plan.pitch_of_strips, sums, scratch + plan.scratch,
                     stream);
}

// Elements of scratch memory of all these launches.
std::int64_t column_scratch(const column_plan& plan, std::int64_t columns) {
  if (plan.strips == 1) return 0;
  return plan.scratch + column_scratch({plan.strips, columns, plan.pitch_of_strips}, columns);
}

std::int64_t column_additions(const column_plan& plan, std::int64_t columns) {
  const std::int64_t own = parts(plan.strip, plan.group()) + 1 + 8;
  if (plan.strips == 1) return own;
  return own + column_additions({plan.strips, columns, plan.pitch_of_strips}, columns);
}

// Elements of scratch memory that come before the segments' sums: the rows' sums, where a sum of all needs
// them.
std::int64_t row_sums_kept(const input& in) {
  return in.result == result::total && in.pitch != in.columns ? parts(in.rows, 64) * 64 : 0;
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  auto* partials = static_cast<float*>(scratch.data);
  if (in.result == result::columns) {
    launch_column_sums(in.values, in.rows, in.columns, in.pitch, out.sums, partials, stream);
  } else if (in.result == result::rows) {
    launch_row_sums(in.values, in.rows, in.columns, in.pitch, out.sums, partials, stream);
  } else if (in.pitch == in.columns) {
    launch_row_sums(in.values, 1, in.rows * in.columns, 0, out.sums, partials, stream);
  } else {
    float* segments = partials + row_sums_kept(in);
    launch_row_sums(in.values, in.rows, in.columns, in.pitch, partials, segments, stream);
    launch_row_sums(partials, 1, in.rows, 0, out.sums, segments, stream);
  }
}

std::size_t workspace_bytes(const problem::parameters& p) {
  const input in = problem::bind_input(p, nullptr);
  const std::int64_t segments =
      std::max({row_plan(in.rows, in.columns).scratch, row_plan(1, in.rows * in.columns).scratch,
                row_plan(1, in.rows).scratch});
  const std::int64_t strips = column_scratch({in.rows, in.columns, in.pitch}, in.columns);
  return static_cast<std::size_t>(in.result == result::columns ? strips : row_sums_kept(in) + segments) *
         sizeof(float);
}

std::int64_t row_additions(std::int64_t rows, std::int64_t columns) {
  const row_plan plan(rows, columns);
  const auto of = [](std::int64_t count, int threads) { return share_additions(count, threads) + 10; };
  return of(std::min(plan.segment, columns), plan.threads) + (plan.segments == 1 ? 0 : of(plan.segments, 8));
}

// A value's longest way through all launches, each a thread's additions and those of its block.
double relative_error(const problem::parameters& p) {
  const input in = problem::bind_input(p, nullptr);
  if (in.result == result::rows) return rounding_error(row_additions(in.rows, in.columns));
  if (in.result == result::total) {
    return rounding_error(in.pitch == in.columns
                              ? row_additions(1, in.rows * in.columns)
                              : row_additions(in.rows, in.columns) + row_additions(1, in.rows));
  }
  return rounding_error(column_additions({in.rows, in.columns, in.pitch}, in.columns));
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "long rows cut, short rows shared, narrow arrays read tall, low ones wide",
     .launch = launch,
     .workspace_bytes = workspace_bytes,
     .tile = 4 * row_threads,
     .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction_2d::split
