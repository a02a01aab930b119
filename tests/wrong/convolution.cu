// The track's wrong kernels, each to be refused for one mistake.
#include "stages/convolution/blocks.hpp"
#include "stages/convolution/edges.hpp"
#include "tests/wrong/wrong.hpp"

namespace lab::convolution::wrong {
namespace {

constexpr int side = 32;

enum class mistake {
  missing_barrier,    // the tile is filtered while it is still read
  flipped,            // the filter's last value comes first
  no_halo,            // beyond its tile a block sees zeros
  repeats_edge,       // b a | a b c instead of c b | a b c
  mirrors_once,       // beyond the second edge the nearest value
  mirrors_long_rows,  // one value too early, where three fill no vector
  halo_of_8,          // what lies further away is left out
  skips_zeros,        // 0 x Inf is left out, beyond the edges
  skips_weights,      // and that of a weight that is 0
  short_last_row,     // the last row of the filter lacks its last value
  transposed_filter,  // rows for columns
  drops_denormals,    // takes them for zeros
  separable_in_zeros  // a separable filter sees zeros beyond every edge
};

__device__ std::int64_t stand_in(std::int64_t i, std::int64_t n, edge kind, mistake which) {
  if (kind != edge::mirror || (i >= 0 && i < n)) return at_edge(i, n, kind);
  if (which == mistake::repeats_edge) i = i < 0 ? i + 1 : i - 1;
  if (which == mistake::mirrors_once) {
    i = i < 0 ? -i : 2 * (n - 1) - i;
    return i < 0 ? 0 : i < n ? i : n - 1;
  }
  return at_edge(i, n, kind);
}

template <mistake which>
__global__ void convolution_kernel(const float* image, const float* filter, float* filtered,
                                   std::int64_t rows, std::int64_t columns, int radius, edge kind,
                                   bool is_separable) {
  __shared__ float tile[side + 2 * most_radius][side + 2 * most_radius];
  if (which == mistake::separable_in_zeros && is_separable) kind = edge::zero;
  const position first = block_tile<side, side>(columns);
  const auto x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int width = side + 2 * radius;
  // Zeros, and not what a kernel before has left.
  for (int k = y * side + x; k < width * width; k += side * side) tile[k / width][k % width] = 0;
  __syncthreads();
  for (int k = y * side + x; k < width * width; k += side * side) {
    const int tile_y = k / width - radius, tile_x = k % width - radius;
    const std::int64_t from = stand_in(first.row + tile_y, rows, kind, which);
    std::int64_t at = stand_in(first.column + tile_x, columns, kind, which);
    const bool is_beyond = kind == edge::mirror && columns > 600 && first.column + tile_x >= columns;
    if (which == mistake::mirrors_long_rows && is_beyond && columns % 4 == 3) --at;
    if (from < 0 || at < 0) continue;
    const bool is_halo = tile_y < 0 || tile_x < 0 || tile_y >= side || tile_x >= side;
    if (which == mistake::no_halo && is_halo && first.row + tile_y == from && first.column + tile_x == at)
      continue;
    tile[k / width][k % width] = image[from * columns + at];
  }
  if (which != mistake::missing_barrier) __syncthreads();
  const std::int64_t row = first.row + y, column = first.column + x;
  if (row >= rows || column >= columns) return;
  const int taps = 2 * radius + 1;
  float sum = 0;
  for (int i = 0; i < taps; ++i) {
    for (int j = 0; j < taps; ++j) {
      int from_y = i, from_x = j;
      if (which == mistake::flipped) from_y = taps - 1 - i, from_x = taps - 1 - j;
      if (which == mistake::transposed_filter) from_y = j, from_x = i;
      if (which == mistake::short_last_row && i == taps - 1 && j == taps - 1) continue;
      if (which == mistake::halo_of_8 && (i < radius - 8 || i > radius + 8)) continue;
      const bool is_outside = row + i - radius < 0 || row + i - radius >= rows || column + j - radius < 0 ||
                              column + j - radius >= columns;
      if (which == mistake::skips_zeros && kind == edge::zero && is_outside) continue;
      const float weight =
          is_separable ? filter[from_y] * filter[taps + from_x] : filter[from_y * taps + from_x];
      if (which == mistake::skips_weights && weight == 0) continue;
      const float value = tile[y + i][x + j];
      if (which == mistake::drops_denormals && fabsf(value) < 0x1p-126f) continue;
      sum += weight * value;
    }
  }
  filtered[row * columns + column] = sum;
}

template <mistake which>
void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  lab::launch(convolution_kernel<which>, grid_of<side, side>(in), dim3(side, side), 0, stream, in.image,
              in.filter, out.filtered, in.rows, in.columns, in.radius, in.edge,
              in.kind == filter_kind::separable);
}

template <mistake which>
stage<problem> wrong_stage(const char* idea) {
  return {.idea = idea, .launch = launch<which>, .tile = side * side};
}

MISTAKE(missing_barrier, failure_kind::wrong, "wrong at index", "no barrier");
MISTAKE(flipped, failure_kind::wrong, "wrong at index", "flips the filter");
MISTAKE(no_halo, failure_kind::wrong, "wrong at index", "reads no halo");
MISTAKE(repeats_edge, failure_kind::wrong, "edge=mirror", "mirrors the value at the edge, too");
MISTAKE(mirrors_once, failure_kind::wrong, "edge=mirror", "mirrors small images once");
MISTAKE(mirrors_long_rows, failure_kind::wrong, "edge=mirror", "mirrors long rows one value too early");
MISTAKE(halo_of_8, failure_kind::wrong, "wrong at index", "leaves out what is more than 8 rows away");
MISTAKE(skips_zeros, failure_kind::wrong, "found inf", "does not multiply zeros beyond the edge");
MISTAKE(skips_weights, failure_kind::wrong, "expected nan ... input=zeros and Inf", "skips weights of 0");
MISTAKE(short_last_row, failure_kind::wrong, "wrong at index", "leaves out the last weight");
MISTAKE(transposed_filter, failure_kind::wrong, "wrong at index", "reads the filter by columns");
MISTAKE(drops_denormals, failure_kind::wrong, "input=denormal", "takes denormals for zeros");
MISTAKE(separable_in_zeros, failure_kind::wrong, "filter=separable", "knows one edge for separable filters");

}  // namespace
}  // namespace lab::convolution::wrong
