// The words of a call, before CLI11 reads them: it knows the options of a verb, and not the parameters of
// tracks.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "harness/front/selection/parameters.hpp"

namespace lab::front {

// An empty value is what is left of a shell variable that is not set; nobody means it. Throws usage_error.
void refuse_empty_values(const CLI::App& app, const std::vector<std::string>& arguments);

// Takes out of `arguments` every "--name value" and "--name=value" that is no option of the verb: those are
// parameters, whose names only the worker knows.
[[nodiscard]] std::vector<parameter_argument> take_parameters(const CLI::App& app,
                                                              std::vector<std::string>& arguments);

// "--device", "--json", ...
[[nodiscard]] std::vector<std::string> option_names(const CLI::App& app);

}  // namespace lab::front
