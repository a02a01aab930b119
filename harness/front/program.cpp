#include "harness/front/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <random>

#include "common/utf8.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/build_info.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/process/interrupt.hpp"
#include "harness/front/selection/patterns.hpp"
#include "harness/front/verbs/verbs.hpp"

namespace lab::front {
namespace {

constexpr const char* pattern_help =
    "tracks or stages, shell-style: reduction, reduction/02_tree, '*/*cub*' (default: everything)";
constexpr const char* device_help = "cuda:0, cuda:1, ... or emulator (default: cuda:0 if there is one)";
constexpr const char* trial_seed_help =
    "of further inputs that a stage is tried on (default: drawn and shown)";
constexpr const char* json_help = "write the results to this file";
constexpr const char* parameter_help =
    "Every parameter of a track is an option as well: --n 1e9, --window 4,300,3000 ('lab list' shows them).";

// A verb's options are text until all of them are known; then they are read with one set of error messages.
struct raw_options {
  std::vector<std::string> patterns;
  std::string stage;
  std::string device;
  std::string seed = "1";
  std::string trial_seed;
  std::string l2;
  std::string minimum_samples;
  std::string time_limit;
  std::string timeout;
  std::string json_path;
  std::string images_path;
  std::string inputs;
  std::string outputs;
  std::string metrics;
  std::string answers;
  bool predict = false;
  bool quick = false;
  bool thorough = false;
  bool source = false;
  bool check = false;
  std::vector<parameter_argument> parameters;
  std::vector<std::string> option_names;
};

double parse_seconds(const std::string& text, const char* option) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  constexpr double longest = 7 * 24 * 3600;  // a week
  if (text.empty() || *end != '\0' || !(seconds > 0 && seconds <= longest)) {
    throw usage_error(
        fmt::format("{} needs a number of seconds above 0 and at most a week, not '{}'", option, text));
  }
  return seconds;
}

std::optional<double> parse_timeout(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return parse_seconds(text, "--timeout");
}

std::vector<std::string> split_at_commas(const std::string& text, const char* option) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    if (comma == begin) throw usage_error(fmt::format("{} has an empty name: '{}'", option, text));
    parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

l2_choice parse_l2(const std::string& text) {
  if (text.empty()) return l2_choice::unset;
  if (text == "cold") return l2_choice::cold;
  if (text == "warm") return l2_choice::warm;
  if (text == "both") return l2_choice::both;
  throw usage_error(fmt::format("--l2 must be cold, warm or both, not '{}'", text));
}

std::uint64_t parse_seed(const std::string& text) {
  return static_cast<std::uint64_t>(parse_integer(text, "--seed"));
}

// Another one every time unless it is given, so that no stage is tried on the same inputs for ever. Below
// 2^53 every reader of JSON keeps it whole.
std::uint64_t parse_trial_seed(const std::string& text) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 53;
  if (text.empty()) {
    std::random_device source;
    return (std::uint64_t{source()} << 32 | source()) % limit;
  }
  const auto seed = static_cast<std::uint64_t>(parse_integer(text, "--trial-seed"));
  if (seed >= limit) throw usage_error(fmt::format("--trial-seed must be below 2^53, not {}", text));
  return seed;
}

run_options parse_run_options(const raw_options& raw) {
  run_options options;
  options.patterns = raw.patterns;
  options.device = raw.device;
  options.parameters = raw.parameters;
  options.option_names = raw.option_names;
  options.seed = parse_seed(raw.seed);
  options.trial_seed = parse_trial_seed(raw.trial_seed);
  options.l2 = parse_l2(raw.l2);
  if (!raw.minimum_samples.empty()) {
    options.plan.minimum_samples = parse_integer(raw.minimum_samples, "--min-samples");
    constexpr std::int64_t max_samples = 1'000'000;
    if (options.plan.minimum_samples < 1 || options.plan.minimum_samples > max_samples) {
      throw usage_error(fmt::format("--min-samples must be from 1 to {}", max_samples));
    }
  }
  if (!raw.time_limit.empty())
    options.plan.time_limit_seconds = parse_seconds(raw.time_limit, "--time-limit");
  options.timeout_seconds = parse_timeout(raw.timeout);
  if (raw.quick && raw.thorough) throw usage_error("--quick and --thorough exclude each other");
  options.thorough = !raw.quick;
  options.json_path = raw.json_path;
  options.images_path = raw.images_path;
  return options;
}

struct verb {
  CLI::App* app = nullptr;
  bool takes_parameters = false;
  std::function<int(const raw_options&, const std::vector<std::string>&)> perform;
};

void add_measuring_options(CLI::App& app, raw_options& raw) {
  app.add_option("pattern", raw.patterns, pattern_help)->type_name("PATTERN");
  app.add_option("--device", raw.device, device_help)->type_name("DEVICE");
  app.add_option("--seed", raw.seed, "of the inputs (default: 1)")->type_name("SEED");
  app.add_option("--trial-seed", raw.trial_seed, trial_seed_help)->type_name("SEED");
  app.add_option("--l2", raw.l2,
                 "what the L2 cache holds when a sample begins: cold, warm, or both in turn (default: cold)")
      ->type_name("STATE");
  app.add_option("--min-samples", raw.minimum_samples, "the fewest samples of a timing (default: 10)")
      ->type_name("N");
  app.add_option("--time-limit", raw.time_limit, "stop sampling a stage after so long (default: 0.5)")
      ->type_name("SECONDS");
  app.add_option("--timeout", raw.timeout, "stop a stage that gives no answer for so long")
      ->type_name("SECONDS");
  app.add_option("--json", raw.json_path, json_help)->type_name("FILE");
  app.footer(parameter_help);
}

void add_stage_options(CLI::App& app, raw_options& raw) {
  app.add_option("stage", raw.stage, "one stage: its path, or the beginning of it")
      ->type_name("STAGE")
      ->required();
  app.add_option("--device", raw.device, device_help)->type_name("DEVICE");
  app.add_option("--timeout", raw.timeout, "stop a stage that gives no answer for so long")
      ->type_name("SECONDS");
  app.add_option("--json", raw.json_path, json_help)->type_name("FILE");
  app.footer(parameter_help);
}

std::map<std::string, verb> add_verbs(CLI::App& app, raw_options& raw) {
  std::map<std::string, verb> verbs;

  CLI::App* list = app.add_subcommand("list", "tracks, stages, the idea of each, what each needs");
  list->add_option("pattern", raw.patterns, pattern_help)->type_name("PATTERN");
  list->add_option("--device", raw.device, device_help)->type_name("DEVICE");
  list->add_option("--json", raw.json_path, json_help)->type_name("FILE");
  verbs["list"] = {list, false, [](const raw_options& options, const auto&) {
                     return list_stages({options.patterns, options.device, options.json_path});
                   }};

  CLI::App* run = app.add_subcommand("run", "verify, time, and print the ladder");
  add_measuring_options(*run, raw);
  run->add_option("--images", raw.images_path,
                  "write what the stages draw, and its difference from what is right, into this directory")
      ->type_name("DIR");
  run->add_flag("--check", raw.check, "then test what the stages' pages claim of their times");
  verbs["run"] = {run, true, [](const raw_options& options, const auto&) {
                    return run_ladders(parse_run_options(options), options.check);
                  }};

  CLI::App* verify = app.add_subcommand("verify", "correctness alone, hostile inputs and sizes included");
  verify->add_option("pattern", raw.patterns, pattern_help)->type_name("PATTERN");
  verify->add_flag("--thorough", raw.thorough, "all sizes and inputs (default)");
  verify->add_flag("--quick", raw.quick, "a few sizes and inputs");
  verify->add_option("--device", raw.device, device_help)->type_name("DEVICE");
  verify->add_option("--seed", raw.seed, "of the inputs (default: 1)")->type_name("SEED");
  verify->add_option("--trial-seed", raw.trial_seed, trial_seed_help)->type_name("SEED");
  verify->add_option("--timeout", raw.timeout, "stop a stage that gives no answer for so long")
      ->type_name("SECONDS");
  verify->add_option("--json", raw.json_path, json_help)->type_name("FILE");
  verbs["verify"] = {verify, false, [](const raw_options& options, const auto&) {
                       return verify_stages(parse_run_options(options));
                     }};

  CLI::App* bench = app.add_subcommand("bench", "the same measurements through Google Benchmark");
  add_measuring_options(*bench, raw);
  bench->footer(
      std::string(parameter_help) +
      "\nGoogle Benchmark's own flags follow after --: lab bench reduction -- --benchmark_out=out.json");
  verbs["bench"] = {bench, true, [](const raw_options& options, const auto& rest) {
                      return bench_stages(parse_run_options(options), rest);
                    }};

  CLI::App* apply = app.add_subcommand("apply", "run one stage on your own data");
  add_stage_options(*apply, raw);
  apply
      ->add_option("--input", raw.inputs,
                   "the data, .npy or .csv; several with commas between; none for a track that takes none")
      ->type_name("FILE[,FILE]");
  apply->add_option("--output", raw.outputs, "where the result goes; several with commas between")
      ->type_name("FILE[,FILE]")
      ->required();
  apply->footer(
      "Tracks of numbers take and write .npy arrays. The track redact takes a CSV file (RFC 4180, UTF-8) "
      "whose\n"
      "header names the columns `name` and `visibility`, and writes one with the column `redacted`. The "
      "result\n"
      "is checked against the reference first; a file is written whole or not at all.");
  verbs["apply"] = {
      apply, true, [](const raw_options& options, const auto&) {
        std::vector<std::string> inputs;
        if (!options.inputs.empty()) inputs = split_at_commas(options.inputs, "--input");
        return apply_stage({options.stage, options.device, inputs,
                            split_at_commas(options.outputs, "--output"), options.parameters,
                            options.option_names, parse_timeout(options.timeout), options.json_path});
      }};

  CLI::App* profile = app.add_subcommand(
      "profile", "performance counters: from Nsight Compute on a GPU, modelled by the emulator elsewhere");
  profile
      ->add_option("stage", raw.patterns,
                   "one stage: its path, or the beginning of it; or patterns, shell-style")
      ->type_name("STAGE")
      ->required();
  profile->add_option("--device", raw.device, device_help)->type_name("DEVICE");
  profile->add_option("--timeout", raw.timeout, "stop a stage that gives no answer for so long")
      ->type_name("SECONDS");
  profile->add_option("--json", raw.json_path, json_help)->type_name("FILE");
  profile->footer(
      std::string(parameter_help) +
      "\nBy default they have the emulator's sizes on either device, so that the counters can be compared.");
  profile
      ->add_option("--metrics", raw.metrics,
                   "Nsight Compute's names (default: those that the stages' pages speak of and those that "
                   "the emulator models)")
      ->type_name("NAME[,NAME]");
  profile->add_flag("--source", raw.source, "show the source, with the counters of each line (emulator)");
  profile->add_flag("--check", raw.check,
                    "test what the stages' pages claim of their counters, and that expected failures fail");
  profile->add_flag("--predict", raw.predict,
                    "of one stage: ask for the counters first, then compare and explain");
  profile
      ->add_option("--answers", raw.answers,
                   "answers for --predict: a JSON object, metric: number (default: the terminal asks)")
      ->type_name("FILE");
  profile
      ->add_option("--output", raw.outputs,
                   "the report that is kept on a GPU (default: the stage's name here)")
      ->type_name("FILE.ncu-rep");
  profile->add_option("--seed", raw.seed, "of the inputs (default: 1)")->type_name("SEED");
  verbs["profile"] = {profile, true, [](const raw_options& options, const auto&) {
                        std::vector<std::string> metrics;
                        if (!options.metrics.empty()) metrics = split_at_commas(options.metrics, "--metrics");
                        return profile_stages({.patterns = options.patterns,
                                               .device = options.device,
                                               .parameters = options.parameters,
                                               .option_names = options.option_names,
                                               .metrics = metrics,
                                               .output = options.outputs,
                                               .source = options.source,
                                               .check = options.check,
                                               .predict = options.predict || !options.answers.empty(),
                                               .answers = options.answers,
                                               .seed = parse_seed(options.seed),
                                               .timeout_seconds = parse_timeout(options.timeout),
                                               .json_path = options.json_path});
                      }};

  CLI::App* doctor =
      app.add_subcommand("doctor", "what this machine has, and what to do about what it lacks");
  doctor->add_option("--json", raw.json_path, json_help)->type_name("FILE");
  verbs["doctor"] = {doctor, false, [](const raw_options& options, const auto&) {
                       return examine_machine({options.json_path});
                     }};
  return verbs;
}

// An empty value is what is left of a shell variable that is not set; nobody means it.
void refuse_empty_values(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto refuse = [](const std::string& option) {
    throw usage_error(option + " needs a value, and the one given is empty");
  };
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& argument = arguments[i];
    if (argument.rfind("--", 0) != 0) continue;
    if (argument.back() == '=') refuse(argument.substr(0, argument.size() - 1));
    const CLI::Option* option = app.get_option_no_throw(argument);
    if (option == nullptr) {
      // A parameter of a track, whose value follows as it does after an option.
      if (argument.find('=') == std::string::npos && i + 1 < arguments.size() && arguments[i + 1].empty())
        refuse(argument);
    } else if (option->get_items_expected_max() > 0 && i + 1 < arguments.size()) {
      if (arguments[++i].empty()) refuse(argument);
    }
  }
}

// Takes out of `arguments` every "--name value" and "--name=value" that is no option of the verb: those are
// parameters, whose names only the worker knows.
std::vector<parameter_argument> take_parameters(const CLI::App& app, std::vector<std::string>& arguments) {
  std::vector<parameter_argument> parameters;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      others.insert(others.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      break;
    }
    if (argument.size() < 3 || argument.rfind("--", 0) != 0) {
      others.push_back(argument);
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const bool has_next = i + 1 < arguments.size();
    if (const CLI::Option* option = app.get_option_no_throw(name)) {
      others.push_back(argument);
      const bool takes_value = option->get_items_expected_max() > 0;
      if (takes_value && equals == std::string::npos && has_next) others.push_back(arguments[++i]);
    } else if (equals != std::string::npos) {
      parameters.push_back({name.substr(2), argument.substr(equals + 1)});
    } else if (has_next && arguments[i + 1].rfind("--", 0) != 0) {
      parameters.push_back({name.substr(2), arguments[++i]});
    } else {
      parameters.push_back({name.substr(2), ""});
    }
  }
  arguments = std::move(others);
  return parameters;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// A variable that means nothing, or has a value that means nothing, is a slip that would go unnoticed.
void check_environment() {
  struct setting {
    const char* name;
    std::uint64_t most;
  };
  constexpr setting settings[] = {{"LAB_EMULATOR_REVERSE", 1},
                                  {"LAB_EMULATOR_THREADS", 4096},
                                  {"LAB_EMULATOR_MEMORY", std::uint64_t{1} << 50},
                                  {"LAB_EMULATOR_MULTIPROCESSORS", 100'000}};
  constexpr const char* prefix = "LAB_EMULATOR_";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (text.rfind(prefix, 0) != 0) continue;
    const std::string name = text.substr(0, text.find('='));
    const std::string value = text.substr(name.size() + 1);
    const auto* const known = std::find_if(std::begin(settings), std::end(settings),
                                           [&](const setting& one) { return name == one.name; });
    if (known == std::end(settings))
      throw usage_error(fmt::format("{}: the emulator has no such variable", name));
    const bool digits = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
    if (!value.empty() && (!digits || value.size() > 18 || std::stoull(value) > known->most))
      throw usage_error(
          fmt::format("{} must be a whole number from 0 to {}, not '{}'", name, known->most, value));
  }
}

// What the verb needs built.
build_request needs_of(const std::string& verb, const raw_options& raw) {
  if (verb == "apply") return {raw.device, select_one(raw.stage)};
  if (verb == "profile") return {raw.device, with_whole_tracks(select_some(raw.patterns), raw.check), true};
  // Any track's worker knows the device.
  if (verb == "doctor")
    return {"", [](const auto& tracks) { return std::vector<track_selection>{{&tracks.front(), {}}}; }};
  parse_run_options(raw);  // what makes no sense needs nothing
  return {.device = raw.device, .select = select_by(raw.patterns, raw.check), .verifies = verb != "list"};
}

// With `only_targets`, the call is understood and not made.
int perform(std::vector<std::string> arguments, bool only_targets = false) {
  CLI::App app("Kernel Lab: learn to make GPU kernels fast.", "lab");
  app.set_version_flag("--version",
                       fmt::format("Kernel Lab {} ({})", this_build().version, this_build().commit));
  // Else `lab run list` would be two verbs, and the first would run everything.
  app.require_subcommand(0, 1);
  raw_options raw;
  const auto verbs = add_verbs(app, raw);

  if (arguments.empty()) {
    if (only_targets) return exit_ok;
    std::fputs(app.help().c_str(), stderr);
    return exit_usage;
  }
  const auto first = std::find_if(arguments.begin(), arguments.end(),
                                  [](const std::string& argument) { return argument.rfind('-', 0) != 0; });
  const auto chosen = first == arguments.end() ? verbs.end() : verbs.find(*first);
  if (first != arguments.end() && chosen == verbs.end()) {
    std::vector<std::string> names;
    for (const auto& [name, verb] : verbs) names.push_back(name);
    const auto near = near_names(*first, names);
    throw usage_error(fmt::format("there is no verb '{}'; {} {}", *first,
                                  near.empty() ? "the verbs are" : "did you mean",
                                  fmt::join(near.empty() ? names : near, ", ")));
  }

  std::vector<std::string> rest;
  if (chosen != verbs.end()) {
    if (chosen->first == "bench") {
      const auto end = std::find(arguments.begin(), arguments.end(), "--");
      if (end != arguments.end()) {
        rest.assign(end + 1, arguments.end());
        arguments.erase(end, arguments.end());
      }
    }
    refuse_empty_values(*chosen->second.app, arguments);
    if (chosen->second.takes_parameters) raw.parameters = take_parameters(*chosen->second.app, arguments);
    raw.option_names = option_names(*chosen->second.app);
  }

  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (only_targets) return exit_ok;
    // CLI11 has an exit code for each kind of error; ours are three.
    return app.exit(error) == 0 ? exit_ok : exit_usage;
  }
  if (chosen == verbs.end()) throw usage_error("no verb was given; 'lab --help' shows them");
  if (only_targets) {
    for (const std::string& target : build_targets(needs_of(chosen->first, raw)))
      std::printf("%s\n", target.c_str());
    return exit_ok;
  }
  return chosen->second.perform(raw, rest);
}

// The launcher asks what it must build for a call. A call that makes no sense needs nothing, and is told so
// when it is made.
int tell_build_targets(std::vector<std::string> arguments) {
  try {
    return perform(std::move(arguments), true);
  } catch (const usage_error&) {
    return exit_ok;
  }
}

}  // namespace

int run_program(std::vector<std::string> arguments) {
  try {
    keep_standard_descriptors();
    catch_interrupts();
    adopt_orphans();
    check_environment();
    const bool only_targets = !arguments.empty() && arguments.front() == "build-targets";
    if (only_targets) arguments.erase(arguments.begin());
    const int code = only_targets ? tell_build_targets(std::move(arguments)) : perform(std::move(arguments));
    if (const std::string lost = lost_output(); !lost.empty()) {
      std::fprintf(stderr, "lab: what should have been printed is lost: %s\n", lost.c_str());
      return code == exit_ok ? exit_output_lost : code;
    }
    return code;
  } catch (const interrupted&) {
    std::fputs("lab: interrupted\n", stderr);
    return exit_interrupted;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lab: %s\n", escaped(error.what(), true).c_str());
    return exit_usage;
  }
}

}  // namespace lab::front
