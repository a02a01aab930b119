// The words of `--operation` and `--missing` as types that kernels are instantiated with: mean and sum share
// one, min and max, var and std as well.
#pragma once

#include "common/windows/operations.hpp"
#include "stages/rolling/problem.hpp"

namespace lab::rolling {

// Why a stage that combines the states of parts of a window takes no expression.
inline constexpr const char* needs_whole_windows =
    "an expression is of a whole window, and this stage combines what is known of its parts: "
    "rolling/01_window_functions takes one";

// Calls visit(operation) for values of which none is missing, or NaN poisons.
template <class Visit>
void with_propagating(const input& in, const Visit& visit) {
  switch (in.operation) {
    case operation::mean:
      return visit(windows::total::mean(in.window));
    case operation::sum:
      return visit(windows::total::sum(in.window));
    case operation::min:
      return visit(windows::extremum::min());
    case operation::max:
      return visit(windows::extremum::max());
    case operation::var:
      return visit(windows::moments::var(in.window));
    case operation::std:
      return visit(windows::moments::std(in.window));
    case operation::first_minus_last:
      return visit(windows::first_minus_last{});
    case operation::user:
      return visit(typename windows::checked_operation<user_operation>::type{});
  }
}

// Calls visit(operation) with what the parameters ask for.
template <class Visit>
void with_operation(const input& in, const Visit& visit) {
  with_propagating(in, [&]<class Operation>(const Operation& one) {
    if (in.missing == missing::propagate) return visit(one);
    visit(windows::skipping<Operation>{one, in.min_periods});
  });
}

// Why a stage whose states are as large as a value cannot run these; empty when it can.
inline std::string state_too_large(const problem::parameters& p) {
  const auto which = static_cast<operation>(p.operation);
  if (static_cast<missing>(p.missing) == missing::skip)
    return "it does not count the values that are not NaN";
  if (which == operation::mean || which == operation::sum || which == operation::min ||
      which == operation::max)
    return "";
  return "a state of this operation is larger than a value, whose place in the ring it would take";
}

}  // namespace lab::rolling
