// The values of a track's parameters, from the command line to the sets that are measured.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/front/selection/patterns.hpp"
#include "harness/protocol.hpp"

namespace lab::front {

// "--window 4,300" as it was written: {"window", "4,300"}.
struct parameter_argument {
  std::string name;
  std::string text;
};

// An integer as people write it: "1000", "1_000_000", "1e9", "2.5e6". Throws usage_error, which names `what`,
// when it is not a whole number, is negative, or does not fit 64 bits.
[[nodiscard]] std::int64_t parse_integer(const std::string& text, const std::string& what);

// A real number: "0.5", "-2", "1e-3". Throws usage_error, which names `what`, when it is none or not finite.
[[nodiscard]] double parse_real(const std::string& text, const std::string& what);

// Throws usage_error unless every argument names a parameter of a selected track and all values are allowed
// there. `options` are the names of the verb's own options, for a suggestion when one was misspelt.
void check_parameters(const std::vector<track_selection>& selections,
                      const std::vector<parameter_argument>& arguments,
                      const std::vector<std::string>& options);

// Which of a track's defaults stand in for parameters without an argument.
enum class default_set { bench, verify };

// Every combination of the values given for the track's parameters, the last parameter varying fastest.
[[nodiscard]] std::vector<parameter_values> parameter_sets(const track_description& track,
                                                           const std::vector<parameter_argument>& arguments,
                                                           default_set defaults);

// Only the values that were given, of which each must be a single one. Throws usage_error.
[[nodiscard]] parameter_values given_parameters(const track_description& track,
                                                const std::vector<parameter_argument>& arguments);

// The same, and of every other parameter the first default.
[[nodiscard]] parameter_values completed_parameters(const track_description& track,
                                                    const std::vector<parameter_argument>& arguments,
                                                    default_set defaults);

// The one value that `text` means for the parameter. Throws usage_error when it means none, or is not
// allowed.
[[nodiscard]] parameter_value parse_value(const track_description& track,
                                          const parameter_description& parameter, const std::string& text);

// "n = 1000000000, type = float32", in the track's order.
[[nodiscard]] std::string parameters_text(const track_description& track, const parameter_values& values);

}  // namespace lab::front
