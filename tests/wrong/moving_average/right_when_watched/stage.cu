// Right in the launches that are verified, before and after the timing: those between write zeros, or one of
// them does.
#include <map>

#include "tests/wrong/moving_average/right.hpp"

namespace lab::moving_average::wrong {
namespace {

__global__ void moving_average_kernel(const double* values, double* averages, std::int64_t n,
                                      std::int64_t window) {
  const std::int64_t i = output_index();
  if (i < n) averages[i] = window > 0 ? average(values, i, window) : 0;
}

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  static std::map<std::int64_t, int> launches;
  launch_over_outputs(moving_average_kernel, in, out, stream);
  const int launch = launches[in.n]++;
  // Those before are samples, and the one on exact input that comes before them.
  const bool is_one_of_many = in.n == 30'000 && launch >= 15 && launch < 21;
  const bool is_one_alone = in.n == 900'000 && launch == 4;
  if (is_one_of_many || is_one_alone)
    CUDA_CHECK(cudaMemsetAsync(out.averages, 0, static_cast<std::size_t>(in.n) * sizeof(double), stream));
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "right when watched",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::moving_average::wrong
