#include "harness/front/compare/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <map>
#include <numeric>

namespace lab::front {
namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance_of(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size() - 1);
}

// The probability of each order statistic of n samples to be the median of a resample of them:
// I(i / n) - I((i - 1) / n), I the regularised incomplete beta function with both parameters (n + 1) / 2.
const std::vector<double>& median_weights(std::size_t n) {
  static std::map<std::size_t, std::vector<double>> known;
  std::vector<double>& weights = known[n];
  if (!weights.empty()) return weights;
  const double size = static_cast<double>(n);
  double below = 0;
  for (std::size_t i = 1; i <= n; ++i) {
    const double up_to = boost::math::ibeta((size + 1) / 2, (size + 1) / 2, static_cast<double>(i) / size);
    weights.push_back(up_to - below);
    below = up_to;
  }
  return weights;
}

// One side of a comparison, in logarithms.
struct side {
  double mean = 0;
  double variance = 0;  // of one process's median
  double processes = 0;
};

side side_of(const std::vector<process_samples>& processes) {
  std::vector<double> medians;
  for (const auto& samples : processes) medians.push_back(std::log(median_of(samples)));
  const side_noise noise = noise_of(processes);
  return {mean_of(medians), std::max(variance_of(medians), noise.within * noise.within),
          static_cast<double>(processes.size())};
}

}  // namespace

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double median_error(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::vector<double>& weights = median_weights(samples.size());
  const double mean = std::inner_product(samples.begin(), samples.end(), weights.begin(), 0.0);
  double variance = 0;
  for (std::size_t i = 0; i < samples.size(); ++i)
    variance += weights[i] * (samples[i] - mean) * (samples[i] - mean);
  return std::sqrt(variance);
}

side_noise noise_of(const std::vector<process_samples>& processes) {
  std::vector<double> medians;
  std::vector<double> variances;
  for (const auto& samples : processes) {
    const double median = median_of(samples);
    const double error = median_error(samples) / median;
    medians.push_back(std::log(median));
    variances.push_back(error * error);
  }
  return {std::sqrt(variance_of(medians)), std::sqrt(mean_of(variances))};
}

time_difference compare_times(const std::vector<process_samples>& older,
                              const std::vector<process_samples>& newer, double confidence) {
  side a = side_of(older);
  side b = side_of(newer);
  const double distance = b.mean - a.mean;
  time_difference result{.estimate = std::expm1(distance)};
  if (a.processes < 2 && b.processes < 2) return result;
  if (a.processes < 2) a.variance = std::max(a.variance, b.variance);
  if (b.processes < 2) b.variance = std::max(b.variance, a.variance);

  const double a_share = a.variance / a.processes;
  const double b_share = b.variance / b.processes;
  double half_width = 0;
  if (a_share + b_share > 0) {
    // Welch and Satterthwaite's degrees of freedom; a borrowed variance has none of its own.
    double squares = 0;
    if (a.processes > 1) squares += a_share * a_share / (a.processes - 1);
    if (b.processes > 1) squares += b_share * b_share / (b.processes - 1);
    double freedom = (a_share + b_share) * (a_share + b_share) / squares;
    if (a.processes < 2) freedom = b.processes - 1;
    if (b.processes < 2) freedom = a.processes - 1;
    const boost::math::students_t distribution(std::max(freedom, 1.0));
    half_width = boost::math::quantile(distribution, 0.5 + confidence / 2) * std::sqrt(a_share + b_share);
  }
  result.has_interval = true;
  result.lower = std::expm1(distance - half_width);
  result.upper = std::expm1(distance + half_width);
  return result;
}

}  // namespace lab::front
