// The options that several verbs have. Each reads its text into its variable when CLI11 has found it; a text
// that makes no sense is a usage_error, in the words of the program.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/front/command_line/verb.hpp"
#include "harness/front/run/build_targets.hpp"
#include "harness/front/run/session.hpp"
#include "harness/front/selection/parameters.hpp"

namespace lab::front {

inline constexpr const char* parameter_help =
    "Every parameter of a track is an option as well: --n 1e9, --window 4,300,3000 ('lab list' shows them).";

void add_patterns(CLI::App& verb, std::vector<std::string>& patterns);
void add_stage(CLI::App& verb, std::string& stage);
void add_device(CLI::App& verb, std::string& device);
void add_json(CLI::App& verb, std::string& path);
void add_seed(CLI::App& verb, std::uint64_t& seed);
void add_seeds(CLI::App& verb, std::optional<seed_range>& seeds);
void add_timeout(CLI::App& verb, std::optional<double>& seconds);

// A whole number from 0, as parse_integer() reads it.
CLI::Option* add_number(CLI::App& verb, const std::string& option, std::optional<std::int64_t>& number,
                        const std::string& help);

// Another seed every time unless it is given, so that no stage is tried on the same inputs for ever.
void add_trial_seed(CLI::App& verb, std::uint64_t& seed);

// How a stage is timed: --l2, --min-samples, --time-limit.
void add_sampling(CLI::App& verb, l2_choice& l2, sampling_options& sampling);

// Processes that measure each row: --repeat.
void add_repeat(CLI::App& verb, std::int64_t& repeat);

// Several processes, one for each GPU: --processes, --mpirun.
void add_processes(CLI::App& verb, int& processes, std::string& launcher);

// All that the verbs have in common which time stages, and what those need built.
void add_measuring(CLI::App& verb, run_options& options);
[[nodiscard]] build_request needs_of_run(const run_options& options, bool check);

// The least difference that is worth a verdict, in percent: --threshold. `threshold` is a fraction.
void add_threshold(CLI::App& verb, double& threshold);

// Names with commas between them, as "--input a.npy,b.npy". (CLI11's own lists drop an empty name without a
// word.)
CLI::Option* add_names(CLI::App& verb, const std::string& option, std::vector<std::string>& names,
                       const std::string& help);

// The name, without its ending, of a file that the caller has not named: the stage, and each choice of the
// call as NAME_VALUE, or NAME where the text is empty: "reduction_02_tree.n_1e5.block". So calls with other
// options write other files, and the same call its own again. What is no letter, digit, "-", "_" or "."
// becomes "_".
[[nodiscard]] std::string stem_of_call(const std::string& stage,
                                       const std::vector<parameter_argument>& choices);

}  // namespace lab::front
