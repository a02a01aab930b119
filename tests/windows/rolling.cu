// Calls of the C++ face (common/windows/rolling.hpp), for a test that no CUDA compiler sees.
#include <stdexcept>

#include "common/stream.hpp"
#include "common/windows/rolling.hpp"
#include "tests/windows/kernels.hpp"

namespace lab::test {
namespace {

device_buffer<double> result_of(const windows::rolling& all, const std::string& operation) {
  if (operation == "mean") return all.mean();
  if (operation == "sum") return all.sum();
  if (operation == "min") return all.min();
  if (operation == "max") return all.max();
  if (operation == "var") return all.var();
  if (operation == "std") return all.std();
  return all.apply(windows::first_minus_last{});
}

}  // namespace

std::vector<double> rolled(const std::vector<double>& values, const rolling_call& call) {
  const stream on;
  device_buffer<double> in(values.size(), on.get());
  if (!values.empty())
    CUDA_CHECK(cudaMemcpyAsync(in.data(), values.data(), in.bytes(), cudaMemcpyHostToDevice, on.get()));
  const auto whole =
      windows::rolling({in.data(), static_cast<std::int64_t>(values.size()), on.get()}, call.window);
  const auto some = call.min_periods ? whole.min_periods(*call.min_periods) : whole;
  const auto out = result_of(call.skips ? some.skip_missing() : some, call.operation);
  std::vector<double> results(out.size());
  if (!results.empty())
    CUDA_CHECK(cudaMemcpyAsync(results.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost, on.get()));
  on.synchronize();
  return results;
}

}  // namespace lab::test
