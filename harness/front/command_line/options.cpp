#include "harness/front/command_line/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <random>
#include <string_view>
#include <utility>

#include "harness/front/process/errors.hpp"
#include "harness/front/selection/verb_names.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {
namespace {

// Below 2^53 every reader of JSON keeps a number whole.
constexpr std::uint64_t seed_limit = std::uint64_t{1} << 53;

double parse_seconds(const std::string& text, const std::string& option) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  constexpr double longest = 7 * 24 * 3600;  // a week
  if (text.empty() || *end != '\0' || !(seconds > 0 && seconds <= longest)) {
    throw usage_error(
        fmt::format("{} needs a number of seconds above 0 and at most a week, not '{}'", option, text));
  }
  return seconds;
}

std::vector<std::string> split_at_commas(const std::string& text, const std::string& option) {
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

// An option whose text `read` turns into a value for `variable`: read(text, "--option").
template <class Value, class Read>
CLI::Option* add_read(CLI::App& verb, const std::string& option, Value& variable, Read read,
                      const std::string& help) {
  return verb.add_option_function<std::string>(
      option, [&variable, option, read](const std::string& text) { variable = read(text, option); }, help);
}

std::uint64_t parse_seed(const std::string& text, const std::string& option) {
  return static_cast<std::uint64_t>(parse_integer(text, option));
}

std::uint64_t parse_trial_seed(const std::string& text, const std::string& option) {
  const std::uint64_t seed = parse_seed(text, option);
  if (seed >= seed_limit) throw usage_error(fmt::format("{} must be below 2^53, not {}", option, text));
  return seed;
}

seed_range parse_seeds(const std::string& text, const std::string& option) {
  constexpr std::uint64_t most = 1'000'000;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos)
    throw usage_error(fmt::format("{} must be two seeds, such as 1:200, not '{}'", option, text));
  const seed_range seeds{parse_trial_seed(text.substr(0, colon), option),
                         parse_trial_seed(text.substr(colon + 1), option)};
  if (seeds.last < seeds.first || seeds.last - seeds.first >= most)
    throw usage_error(
        fmt::format("{}: from the first to the last there must be 1 to {} seeds", option, most));
  return seeds;
}

l2_choice parse_l2(const std::string& text, const std::string& option) {
  static const std::map<std::string, l2_choice> choices{
      {"cold", l2_choice::cold}, {"warm", l2_choice::warm}, {"both", l2_choice::both}};
  const auto found = choices.find(text);
  if (found == choices.end())
    throw usage_error(fmt::format("{} must be cold, warm or both, not '{}'", option, text));
  return found->second;
}

template <std::int64_t most>
std::int64_t parse_count(const std::string& text, const std::string& option) {
  const std::int64_t count = parse_integer(text, option);
  if (count < 1 || count > most) throw usage_error(fmt::format("{} must be from 1 to {}", option, most));
  return count;
}

int parse_processes(const std::string& text, const std::string& option) {
  constexpr std::int64_t max_processes = 4096;
  const std::int64_t processes = parse_integer(text, option);
  if (processes < 2 || processes > max_processes) {
    throw usage_error(
        fmt::format("{} must be from 2 to {}, one for each GPU (without it one process drives all of them)",
                    option, max_processes));
  }
  return static_cast<int>(processes);
}

// "1.5" or "1.5%", as 0.015.
double parse_threshold(std::string text, const std::string& option) {
  const std::string given = text;
  if (!text.empty() && text.back() == '%') text.pop_back();
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(percent > 0 && percent <= 100))
    throw usage_error(fmt::format("{} needs a percentage above 0 and at most 100, not '{}'", option, given));
  return percent / 100;
}

}  // namespace

void add_patterns(CLI::App& verb, std::vector<std::string>& patterns) {
  verb.add_option("pattern", patterns,
                  "tracks or stages, shell-style: TRACK, TRACK/NN_name, '*/*cub*' (default: everything)")
      ->type_name("PATTERN");
}

void add_stage(CLI::App& verb, std::string& stage) {
  verb.add_option("stage", stage, "one stage: its path, or the beginning of it")
      ->type_name("STAGE")
      ->required();
}

void add_device(CLI::App& verb, std::string& device) {
  verb.add_option(
          "--device,--devices", device,
          "cuda:0, cuda:1, ... or emulator (default: cuda:0 if there is one); cuda:0,cuda:1 names the "
          "GPUs of a stage that uses several")
      ->type_name("DEVICE");
}

void add_json(CLI::App& verb, std::string& path) {
  verb.add_option("--json", path, "write the results to this file")->type_name("FILE");
}

void add_seed(CLI::App& verb, std::uint64_t& seed) {
  add_read(verb, "--seed", seed, parse_seed, "of the inputs (default: 1)")->type_name("SEED");
}

CLI::Option* add_number(CLI::App& verb, const std::string& option, std::optional<std::int64_t>& number,
                        const std::string& help) {
  return add_read(verb, option, number, parse_integer, help)->type_name("N");
}

void add_trial_seed(CLI::App& verb, std::uint64_t& seed) {
  std::random_device source;
  seed = (std::uint64_t{source()} << 32 | source()) % seed_limit;
  add_read(verb, "--trial-seed", seed, parse_trial_seed,
           "of further inputs that a stage is tried on (default: drawn and shown)")
      ->type_name("SEED");
}

void add_seeds(CLI::App& verb, std::optional<seed_range>& seeds) {
  add_read(verb, "--seeds", seeds, parse_seeds,
           "a soak: prove with each of these seeds, two to a proof, in parallel, and show a row a stage")
      ->type_name("FIRST:LAST");
}

void add_timeout(CLI::App& verb, std::optional<double>& seconds) {
  add_read(verb, "--timeout", seconds, parse_seconds,
           "stop a stage that gives no answer within so much processor time")
      ->type_name("SECONDS");
}

void add_sampling(CLI::App& verb, l2_choice& l2, sampling_options& sampling) {
  add_read(verb, "--l2", l2, parse_l2,
           "what the L2 cache holds when a sample begins: cold, warm, or both in turn (default: cold)")
      ->type_name("STATE");
  add_read(verb, "--min-samples", sampling.minimum_samples, parse_count<1'000'000>,
           "the fewest samples of a timing (default: 10)")
      ->type_name("N");
  add_read(verb, "--time-limit", sampling.time_limit_seconds, parse_seconds,
           "stop sampling a stage after so long (default: 0.5)")
      ->type_name("SECONDS");
}

void add_repeat(CLI::App& verb, std::int64_t& repeat) {
  add_read(verb, "--repeat", repeat, parse_count<1000>,
           "measure each row in so many fresh processes and keep the samples of all (default: 1)")
      ->type_name("K");
}

void add_processes(CLI::App& verb, int& processes, std::string& launcher) {
  add_read(verb, "--processes", processes, parse_processes,
           "run as so many processes of MPI's, one for each GPU, where the stage can")
      ->type_name("N");
  verb.add_option("--mpirun", launcher, "what starts them, with its options (default: mpirun)")
      ->type_name("COMMAND");
}

void add_threshold(CLI::App& verb, double& threshold) {
  add_read(verb, "--threshold", threshold, parse_threshold,
           "the least difference that is worth a verdict (default: 1 %)")
      ->type_name("PERCENT");
}

CLI::Option* add_names(CLI::App& verb, const std::string& option, std::vector<std::string>& names,
                       const std::string& help) {
  return add_read(verb, option, names, split_at_commas, help);
}

void add_measuring(CLI::App& verb, run_options& options) {
  add_patterns(verb, options.patterns);
  add_device(verb, options.device);
  add_seed(verb, options.seed);
  add_trial_seed(verb, options.trial_seed);
  add_sampling(verb, options.l2, options.sampling);
  add_timeout(verb, options.timeout_seconds);
  add_json(verb, options.json_path);
  verb.footer(parameter_help);
}

build_request needs_of_run(const run_options& options, bool check) {
  return {.device = options.device,
          .select = select_by(options.patterns, check),
          .proves = true,
          .anew = options.prove};
}

CLI::App* add_verb(CLI::App& program, const std::string& name) {
  return program.add_subcommand(name, verb_summary(name));
}

std::string stem_of_call(const std::string& stage, const std::vector<parameter_argument>& choices) {
  constexpr std::size_t longest = 200;  // bytes: file systems take 255
  std::string stem = stage;
  for (const parameter_argument& one : choices) {
    stem += "." + one.name;
    if (!one.text.empty()) stem += "_" + one.text;
  }
  std::replace_if(
      stem.begin(), stem.end(),
      [](unsigned char c) {
        return std::isalnum(c) == 0 && std::string_view("-_.").find(c) == std::string_view::npos;
      },
      '_');
  return stem.substr(0, longest);
}

}  // namespace lab::front
