// How far two kernels' times lie apart, and how well that is known, from the samples of several processes.
#pragma once

#include <cstddef>
#include <vector>

namespace lab::front {

// The times of one launch in one process, each positive, in one unit.
using process_samples = std::vector<double>;

// The median of at least one number.
[[nodiscard]] double median_of(std::vector<double> values);

// The standard error of the median of `samples`, in their unit: the bootstrap's, in closed form and hence
// without a seed (J. S. Maritz, R. G. Jarrett, "A note on estimating the variance of the sample median",
// JASA 73, 1978; the same as B. Efron's bootstrap of 1979 with an unlimited number of resamples). 0 for one
// sample.
[[nodiscard]] double median_error(std::vector<double> samples);

// What is known of the times of one side, relative to their size (0.01 is a percent).
struct side_noise {
  double between = 0;  // standard deviation of the processes' medians; 0 for one process
  double within = 0;   // standard error of one process's median, from its samples
};
[[nodiscard]] side_noise noise_of(const std::vector<process_samples>& processes);

// New over old, less one: 0.03 is 3 % slower.
struct time_difference {
  double estimate = 0;
  // Of the confidence interval. Without one, nobody knows how far a median moves from process to process.
  bool has_interval = false;
  double lower = 0;
  double upper = 0;
};

// Compares the geometric means of the processes' medians. The interval is Welch's, of the logarithms of the
// medians (B. L. Welch, Biometrika 34, 1947): processes are the unit of replication, since a process's median
// moves more than its samples say. A side's variance is that between its medians, but not less than the
// variance of one median within a process, so that a few medians which happen to agree prove nothing. A side
// of one process borrows the other's; where both are of one process, there is no interval. `confidence` is
// between 0 and 1.
[[nodiscard]] time_difference compare_times(const std::vector<process_samples>& older,
                                            const std::vector<process_samples>& newer, double confidence);

}  // namespace lab::front
