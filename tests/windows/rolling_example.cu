// Window functions from C++: those that pandas has, and one of our own, the largest step from one value of a
// window to the next.
#include <cstdio>
#include <vector>

#include "common/stream.hpp"
#include "common/windows/rolling.hpp"

namespace {

// Between two runs lies one more step, from the last value of the earlier one to the first of the later one.
struct largest_step {
  struct state {
    double first;
    double last;
    double step;
    std::int64_t any;  // 0: of no value
  };
  static constexpr bool commutes = false;

  __host__ __device__ static state identity() { return {0, 0, 0, 0}; }
  __host__ __device__ static state lift(double value) { return {value, value, 0, 1}; }
  __host__ __device__ static state combine(const state& earlier, const state& later) {
    if (earlier.any == 0) return later;
    if (later.any == 0) return earlier;
    const double between = later.first - earlier.last;
    const double step = earlier.step > later.step ? earlier.step : later.step;
    return {earlier.first, later.last, between > step ? between : step, 1};
  }
  __host__ __device__ static double finish(const state& all, std::int64_t /*count*/) { return all.step; }
};

void print(const char* name, const lab::device_buffer<double>& results) {
  std::vector<double> values(results.size());
  CUDA_CHECK(cudaMemcpyAsync(values.data(), results.data(), results.bytes(), cudaMemcpyDeviceToHost,
                             results.stream()));
  CUDA_CHECK(cudaStreamSynchronize(results.stream()));
  std::printf("%s", name);
  for (const double value : values) std::printf(" %g", value);
  std::printf("\n");
}

}  // namespace

int main() {
  const std::vector<double> squares{9, 16, 25, 36, 49};
  const lab::stream on;
  lab::device_buffer<double> values(squares.size(), on.get());
  CUDA_CHECK(
      cudaMemcpyAsync(values.data(), squares.data(), values.bytes(), cudaMemcpyHostToDevice, on.get()));

  const auto windows = lab::windows::rolling(values, 3);
  print("sum", windows.sum());
  print("sum of at least 1", windows.min_periods(1).sum());
  print("std", windows.std());
  print("largest step", windows.min_periods(2).apply(largest_step{}));
}
