// What the test launches.
#pragma once

#include <cstdint>
#include <vector>

#include "common/windows/operations.hpp"

namespace lab::test {

// Every window of `values`, made by two_scans.hpp with a ring of `slots` tiles.
template <class Operation>
std::vector<double> windows_by_two_scans(const Operation& operation, const std::vector<double>& values,
                                         std::int64_t window, std::int64_t min_periods);

}  // namespace lab::test
