// What the test launches.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/windows/operations.hpp"

namespace lab::test {

// Every window of `values`, made by two_scans.hpp with a ring of `slots` tiles. In the ring `outside` stands
// where the array has nothing.
template <class Operation>
std::vector<double> windows_by_two_scans(const Operation& operation, const std::vector<double>& values,
                                         std::int64_t window, std::int64_t min_periods, double outside = NAN);

// Every window of more than 13 values, made by its two turns, enter() and finish().
template <class Operation>
std::vector<double> windows_in_two_turns(const Operation& operation, const std::vector<double>& values,
                                         std::int64_t window, std::int64_t min_periods);

// Variances with 21 values of a thread, and with 15 for windows longer than a tile of 2688: the layouts of
// rolling/05_two_scans, which takes the first for longer windows, too.
std::vector<double> variances_of_layouts(const windows::moments& operation, const std::vector<double>& values,
                                         std::int64_t window, std::int64_t min_periods, double outside = NAN);

// A state of any bits.
struct any_words {
  std::uint64_t word[3];
};

// What the last block of a grid reads of those before it, by tile_messages.hpp: of tile t published.total[t],
// and of tile `with_rest` published.rest[with_rest].
template <class State>
struct published_states {
  std::vector<State> total;
  std::vector<State> rest;
};
template <class State>
std::vector<State> read_messages(const published_states<State>& published, std::int64_t with_rest);

// Every window of `values`, by common/windows/rolling.hpp.
struct rolling_call {
  std::string operation;
  std::int64_t window;
  std::optional<std::int64_t> min_periods;
  bool skips;
};
std::vector<double> rolled(const std::vector<double>& values, const rolling_call& call);

}  // namespace lab::test
