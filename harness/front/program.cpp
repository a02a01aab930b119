#include "harness/front/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>

#include "common/utf8.hpp"
#include "harness/front/command_line/arguments.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/build_info.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/process/interrupt.hpp"
#include "harness/front/selection/patterns.hpp"
#include "harness/front/selection/verb_names.hpp"

namespace lab::front {
namespace {

// A variable that means nothing, or has a value that means nothing, is a slip that would go unnoticed.
void check_environment() {
  struct setting {
    const char* name;
    std::uint64_t most;
  };
  constexpr setting settings[] = {{"LAB_EMULATOR_REVERSE", 1},
                                  {"LAB_EMULATOR_THREADS", 4096},
                                  {"LAB_EMULATOR_MEMORY", std::uint64_t{1} << 50},
                                  {"LAB_EMULATOR_MULTIPROCESSORS", 100'000},
                                  {"LAB_EMULATOR_DEVICES", 16}};
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

usage_error no_such_verb(const std::string& name, const std::map<std::string, verb>& verbs) {
  if (is_launchers(name))
    return usage_error(
        fmt::format("'{}' is a verb of the launcher, which is the script ./lab: ./lab {}", name, name));
  std::vector<std::string> names;
  for (const auto& [known, verb] : verbs) names.push_back(known);
  const auto near = near_names(name, names);
  return usage_error(fmt::format("there is no verb '{}'; {} {}", name,
                                 near.empty() ? "the verbs are" : "did you mean",
                                 fmt::join(near.empty() ? names : near, ", ")));
}

// The verb that the first word names which is no option; null where there is no such word.
const verb* chosen_verb(const std::map<std::string, verb>& verbs, const std::vector<std::string>& arguments) {
  const auto first = std::find_if(arguments.begin(), arguments.end(),
                                  [](const std::string& argument) { return argument.rfind('-', 0) != 0; });
  if (first == arguments.end()) return nullptr;
  const auto found = verbs.find(*first);
  if (found == verbs.end()) throw no_such_verb(*first, verbs);
  return &found->second;
}

// Takes out of `arguments` what CLI11 is not given, and leaves it where the verb reads it.
void take_own_arguments(const verb& chosen, std::vector<std::string>& arguments) {
  if (chosen.after_dashes != nullptr) {
    const auto end = std::find(arguments.begin(), arguments.end(), "--");
    if (end != arguments.end()) {
      chosen.after_dashes->assign(end + 1, arguments.end());
      arguments.erase(end, arguments.end());
    }
  }
  if (chosen.take_words) chosen.take_words(arguments);
  refuse_empty_values(*chosen.app, arguments);
  if (chosen.parameters != nullptr) *chosen.parameters = take_parameters(*chosen.app, arguments);
  if (chosen.option_names != nullptr) *chosen.option_names = option_names(*chosen.app);
}

// With `only_targets`, the call is understood and not made.
int perform(std::span<const verb_maker> makers, std::vector<std::string> arguments,
            bool only_targets = false) {
  CLI::App app("Kernel Lab: learn to make GPU kernels fast.", "lab");
  app.set_version_flag("-V,--version",
                       fmt::format("Kernel Lab {} ({})", this_build().version, this_build().commit));
  // Else `lab run list` would be two verbs, and the first would run everything.
  app.require_subcommand(0, 1);
  std::map<std::string, verb> verbs;
  for (const verb_maker make : makers) {
    verb added = make(app);
    verbs.emplace(added.app->get_name(), std::move(added));
  }

  if (arguments.empty()) {
    if (only_targets) return exit_ok;
    std::fputs(app.help().c_str(), stderr);
    return exit_usage;
  }
  const verb* const chosen = chosen_verb(verbs, arguments);
  if (chosen != nullptr) take_own_arguments(*chosen, arguments);
  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 expects them
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (only_targets) return exit_ok;
    // CLI11 has an exit code for each kind of error; ours are three.
    return app.exit(error) == 0 ? exit_ok : exit_usage;
  }
  if (chosen == nullptr) throw usage_error("no verb was given; 'lab --help' shows them");
  if (!only_targets) return chosen->perform();
  for (const std::string& target : build_targets(chosen->needs())) std::printf("%s\n", target.c_str());
  return exit_ok;
}

// The launcher asks what it must build for a call. A call that makes no sense needs nothing, and is told so
// when it is made.
int tell_build_targets(std::span<const verb_maker> makers, std::vector<std::string> arguments) {
  try {
    return perform(makers, std::move(arguments), true);
  } catch (const usage_error&) {
    return exit_ok;
  }
}

}  // namespace

int run_program(std::span<const verb_maker> verbs, std::vector<std::string> arguments) {
  try {
    keep_standard_descriptors();
    catch_interrupts();
    adopt_orphans();
    check_environment();
    const bool only_targets = !arguments.empty() && arguments.front() == "build-targets";
    if (only_targets) arguments.erase(arguments.begin());
    const int code =
        only_targets ? tell_build_targets(verbs, std::move(arguments)) : perform(verbs, std::move(arguments));
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
