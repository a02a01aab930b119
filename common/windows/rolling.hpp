// Window functions of an array in device memory, in pandas' words:
//
//     lab::windows::rolling({values, n, stream}, 20).min_periods(5).std()      // a device_buffer<double> of
//     n lab::windows::rolling(buffer, 20).skip_missing().apply(operation{})      // operations.hpp
//
// Output i reduces inputs i - window + 1 .. i. The windows at the beginning hold i + 1 values; one with fewer
// than min_periods (unless said, the window) is incomplete, and its output +Inf (pandas: NaN). NaN poisons
// the windows that hold it, or with skip_missing counts as absent. var and std are those of a sample: NaN for
// a single value. One launch of ring.hpp, for any size and windows of some thousand values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "common/memory.hpp"
#include "common/windows/operations.hpp"
#include "common/windows/ring.hpp"

namespace lab::windows {

#if defined(__CUDACC__) || LAB_EMULATED

// `n` values in device memory, and the stream on which they are there.
struct device_values {
  const double* data;
  std::int64_t n;
  cudaStream_t stream;

  device_values(const double* data_, std::int64_t n_, cudaStream_t stream_)
      : data(data_), n(n_), stream(stream_) {}
  device_values(const device_buffer<double>& values)
      : data(values.data()), n(static_cast<std::int64_t>(values.size())), stream(values.stream()) {}
};

// The windows of `values`, which must stay until the results are there. A function that reduces them enqueues
// its work on the values' stream, to which the results are bound, and returns at once. It throws memory_error
// where there is no memory for them, and std::length_error where the current device's shared memory does not
// hold the window: the larger an operation's state, the shorter its windows.
class rolling {
 public:
  // Throws std::invalid_argument for a window of no values.
  rolling(const device_values& values, std::int64_t window) : values_(values), window_(window) {
    if (window < 1) throw std::invalid_argument("window " + std::to_string(window) + " is below 1");
    min_periods_ = window;
  }

  // The fewest values that complete a window. Throws std::invalid_argument below 1 and above the window.
  [[nodiscard]] rolling min_periods(std::int64_t fewest) const {
    if (fewest < 1) throw std::invalid_argument("min-periods " + std::to_string(fewest) + " is below 1");
    if (fewest > window_) {
      throw std::invalid_argument("min-periods " + std::to_string(fewest) + " is more than the window, " +
                                  std::to_string(window_));
    }
    rolling other = *this;
    other.min_periods_ = fewest;
    return other;
  }
  [[nodiscard]] rolling skip_missing() const {
    rolling other = *this;
    other.skips_ = true;
    return other;
  }

  [[nodiscard]] device_buffer<double> mean() const { return apply(total::mean(window())); }
  [[nodiscard]] device_buffer<double> sum() const { return apply(total::sum(window())); }
  [[nodiscard]] device_buffer<double> min() const { return apply(extremum::min()); }
  [[nodiscard]] device_buffer<double> max() const { return apply(extremum::max()); }
  [[nodiscard]] device_buffer<double> var() const { return apply(moments::var(window())); }
  [[nodiscard]] device_buffer<double> std() const { return apply(moments::std(window())); }

  // Any operation that operations.hpp describes.
  template <class Operation>
  [[nodiscard]] device_buffer<double> apply(const Operation& operation) const {
    const typename checked_operation<Operation>::type& checked = operation;
    return skips_ ? reduced(skipping<Operation>{checked, fewest()}) : reduced(checked);
  }

 private:
  // No window of more than n values is whole.
  [[nodiscard]] std::int64_t window() const { return std::min(window_, values_.n + 1); }
  [[nodiscard]] std::int64_t fewest() const { return std::min(min_periods_, values_.n + 1); }

  template <class Operation>
  [[nodiscard]] device_buffer<double> reduced(const Operation& operation) const {
    if (const std::string why = ring<Operation>::too_long(window()); !why.empty())
      throw std::length_error(why);
    device_buffer<double> results(static_cast<std::size_t>(values_.n), values_.stream);
    launch_ring(operation, values_.data, results.data(), values_.n, window(), fewest(), values_.stream);
    return results;
  }

  device_values values_;
  std::int64_t window_;
  std::int64_t min_periods_ = 1;
  bool skips_ = false;
};

#endif

}  // namespace lab::windows
