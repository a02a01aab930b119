// Two recorded sides, row by row: which became faster or slower, and which cannot be told.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/compare/recorded_run.hpp"
#include "harness/front/compare/statistics.hpp"

namespace lab::front {

// Of each row's interval.
inline constexpr double comparison_confidence = 0.99;

enum class row_verdict { faster, slower, same, inconclusive };
inline constexpr const char* row_verdict_names[] = {"FASTER", "SLOWER", "SAME", "INCONCLUSIVE"};

// SLOWER (FASTER): the whole interval lies above (below) zero, and the estimate is at least `threshold`.
// SAME: the whole interval lies within the threshold on both sides. INCONCLUSIVE: anything else.
// `threshold` is a fraction: 0.01 is a percent.
[[nodiscard]] row_verdict verdict_of(const time_difference& difference, double threshold);

struct compared_row {
  row_name name;
  double old_median = 0;  // geometric mean of the processes' medians, nanoseconds
  double new_median = 0;
  std::size_t old_processes = 0;
  std::size_t new_processes = 0;
  time_difference difference;
  side_noise old_noise;
  side_noise new_noise;
  std::string decided_by;  // the noise that made the interval as wide as it is, in words
  bool same_sources = false;
  row_verdict verdict = row_verdict::inconclusive;
};

// A row that is not compared, and why.
struct uncompared_row {
  row_name name;
  std::string why;
  bool regression = false;  // it was right, and now fails
};

struct comparison {
  std::string old_path;
  std::string new_path;
  double threshold = 0;
  std::vector<compared_row> rows;
  std::vector<uncompared_row> uncompared;
  std::vector<std::string> remarks;
};

// Throws usage_error when no row can be compared, with the reasons, or when both sides hold one and the same
// measurement.
[[nodiscard]] comparison compare_sides(const recorded_side& older, const recorded_side& newer,
                                       double threshold);

// Whether a row is slower, or fails that was right.
[[nodiscard]] bool has_regression(const comparison& compared);

[[nodiscard]] std::string comparison_text(const comparison& compared);
// For a pull request: a table, and what was not compared below it.
[[nodiscard]] std::string comparison_markdown(const comparison& compared);
void to_json(nlohmann::json& json, const comparison& compared);

}  // namespace lab::front
