// The track's wrong kernels, each to be refused for one mistake. A warp has a row.
#include "common/block_reduce.hpp"
#include "common/operations.hpp"
#include "stages/softmax/problem.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::softmax::wrong {
namespace {

enum class mistake {
  no_maximum,         // large values overflow
  maximum_from_zero,  // rows far below 0 vanish
  nan_dropped,        // by fmaxf, and a NaN is no part of the sum
  one_left_out,       // of the sum
  sum_not_scaled,     // where a larger value comes later
  infinite_minus,     // -Inf among others: exp(-Inf + Inf)
  next_row,           // the last lanes read beyond their row
  half_precision,     // exponentials of 11 bits
  truncated,          // a bfloat16 is cut off and not rounded
  narrow_sum,         // of bfloat16
  end_of_long_row,    // is left out of the sum, of bfloat16
  tail_of_three,      // the last value of a long row is not in the sum, where three fill no vector
  row_of_16_bits      // rows from 65 536 on are the first ones again
};

template <mistake which, class T>
__global__ void softmax_kernel(const T* values, T* results, std::int64_t columns) {
  const int lane = static_cast<int>(threadIdx.x);
  const std::int64_t first = (which == mistake::row_of_16_bits ? blockIdx.x % 65'536 : blockIdx.x) * columns;
  const T* const row = values + first;
  const auto exponential = [](float x) {
    const float all = expf(x);
    return which == mistake::half_precision ? __uint_as_float(__float_as_uint(all) & 0xffffe000u) : all;
  };
  const auto rounded = [](float x) {
    const bool cut = which == mistake::truncated && sizeof(T) == 2;
    return cut ? __uint_as_float(__float_as_uint(x) & 0xffff0000u) : x;
  };
  std::int64_t end = columns;
  if (which == mistake::next_row && blockIdx.x + 1 < gridDim.x) end = (columns + 31) / 32 * 32;
  float largest = which == mistake::maximum_from_zero ? 0 : -INFINITY;
  float total = 0;
  for (std::int64_t j = lane; j < end; j += 32) {
    const float x = row[j];
    const float larger = which == mistake::nan_dropped  ? fmaxf(largest, x)
                         : which == mistake::no_maximum ? 0
                                                        : maximum<float>{}(largest, x);
    const bool is_plain = larger == -INFINITY && which != mistake::infinite_minus;
    const float shift = is_plain ? 0 : larger;
    if (which != mistake::sum_not_scaled && largest != larger) total *= exponential(largest - shift);
    const bool is_at_end = sizeof(T) == 2 && columns > 8'192 && j >= columns - 8;
    if ((which != mistake::nan_dropped || x == x) && (which != mistake::one_left_out || j != columns / 2) &&
        (which != mistake::end_of_long_row || !is_at_end) &&
        (which != mistake::tail_of_three || columns < 5'000 || columns % 4 != 3 || j != columns - 1))
      total += exponential(x - shift);
    if (which == mistake::narrow_sum) total = static_cast<T>(total);
    largest = larger;
  }
  const float all = which == mistake::no_maximum ? 0 : warp_reduce(largest, maximum<float>{});
  const float shift = all == -INFINITY && which != mistake::infinite_minus ? 0 : all;
  const float own = which == mistake::infinite_minus || largest != all ? exponential(largest - shift) : 1;
  const float sum_of_row = warp_reduce(which == mistake::no_maximum ? total : total * own, sum<float>{});
  for (std::int64_t j = lane; j < columns; j += 32)
    results[first + j] = rounded(exponential(row[j] - shift) / sum_of_row);
}

template <mistake which>
void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  if (in.columns == 0) return;
  with_type(in, out, [&]<class T>(const T* values, T* results) {
    lab::launch(softmax_kernel<which, T>, dim3(static_cast<unsigned>(in.rows)), dim3(32), 0, stream, values,
                results, in.columns);
  });
}

template <mistake which>
stage<problem> wrong_stage(const char* idea) {
  return {.idea = idea, .launch = launch<which>};
}

MISTAKE(no_maximum, failure_kind::wrong, "wrong at index", "exponentials of the values");
MISTAKE(maximum_from_zero, failure_kind::wrong, "wrong at index", "a maximum of 0 at least");
MISTAKE(nan_dropped, failure_kind::wrong, "expected nan", "takes NaN for missing");
MISTAKE(one_left_out, failure_kind::wrong, "wrong at index", "one value not in the sum");
MISTAKE(sum_not_scaled, failure_kind::wrong, "wrong at index", "keeps the sum of a smaller maximum");
MISTAKE(infinite_minus, failure_kind::wrong, "input=NaN and Inf", "subtracts -Inf from -Inf");
MISTAKE(next_row, failure_kind::wrong, "wrong at index", "sums up values of the next row");
MISTAKE(half_precision, failure_kind::wrong, "wrong at index", "exponentials of 11 bits");
MISTAKE(truncated, failure_kind::wrong, "type=bfloat16", "cuts bfloat16 off");
MISTAKE(narrow_sum, failure_kind::wrong, "type=bfloat16", "adds in bfloat16");
MISTAKE(end_of_long_row, failure_kind::wrong, "type=bfloat16", "sums all but the end of a long row");
MISTAKE(tail_of_three, failure_kind::wrong, "input=lone maximum", "sums all but the last of a long row");
MISTAKE(row_of_16_bits, failure_kind::unwritten, "output 65536 was never written",
        "keeps 16 bits of a row's number");

}  // namespace
}  // namespace lab::softmax::wrong
