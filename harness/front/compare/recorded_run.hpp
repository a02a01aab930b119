// Result files (docs/results-schema.md) as `lab compare` reads them: what was measured, and under which
// conditions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/front/compare/statistics.hpp"

namespace lab::front {

// A stage at one set of parameters and one state of the cache: rows of the same name are compared.
struct row_name {
  std::string track;
  std::string stage;       // its path
  std::string parameters;  // "n = 1000, window = 4"
  std::string l2;

  [[nodiscard]] auto operator<=>(const row_name&) const = default;
};

// "moving_average/07_ring (n = 1000, window = 4, L2 cold)"
[[nodiscard]] std::string title_of(const row_name& name);

// What two rows must have in common to be compared: "driver", "580.65.06 (CUDA 13.0)".
using conditions = std::vector<std::pair<std::string, std::string>>;

struct recorded_row {
  row_name name;
  std::string status;
  std::string message;
  std::vector<process_samples> processes;  // nanoseconds; of a row that is ok at least one
  std::optional<double> sm_clock_mhz;      // median during the samples
  std::string sources;                     // digest; empty: not known
  std::string created;                     // of its file
  conditions measured_under;
};

// All rows of one side, each name once.
struct recorded_side {
  std::string path;
  std::vector<recorded_row> rows;
  std::vector<std::string> remarks;  // files and rows that were left out, and why
};

// Reads a result file (of a .jsonl file each line is one), or all result files that lie in a folder. The same
// row several times is taken as that many processes if sources and conditions agree; of older ones that
// differ the remarks tell.
// Strings are cleaned. Throws usage_error, which names the file, for what is no result file, is of another
// version, is truncated, larger than 256 MiB, holds a time that is not positive or no timed row at all;
// file_error for what cannot be read.
[[nodiscard]] recorded_side read_side(const std::string& path);

}  // namespace lab::front
