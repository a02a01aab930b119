#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "harness/front/command_line/options.hpp"
#include "harness/front/exercises/check_text.hpp"
#include "harness/front/exercises/examination.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/process/interrupt.hpp"
#include "harness/front/verbs/verbs.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void print_line(const std::string& line) {
  print(line + "\n");
}

int show_hints(const check_request& options) {
  const std::vector<std::string> hints = take_hints(options);
  for (std::size_t k = 0; k < hints.size(); ++k) print_line(fmt::format("hint {}: {}", k + 1, hints[k]));
  return exit_ok;
}

int check_once(const check_request& options) {
  const check_style style = style_of_standard_output();
  const examination found = examine(options, [&](const check_step& step, const examination& so_far) {
    print(step_text(step, so_far, style));
  });
  if (!found.notice.empty()) print_line(wrapped("note: " + found.notice, style.width, 6));
  print(predictions_text(found, style));
  print_line(outcome_text(found, style));
  const bool has_hints = !options.solution && !found.passed && !found.record.digest.empty();
  if (has_hints) {
    print_line(fmt::format("a hint: ./lab check {} --hint {}", found.exercise,
                           std::min<std::int64_t>(found.record.hints + 1, 3)));
  }
  if (!options.json_path.empty()) {
    nlohmann::json document{{"schema", "kernel-lab-check"}, {"version", 1}};
    document.update(nlohmann::json(found));
    write_file(options.json_path, json_text(document));
  }
  return found.passed ? exit_ok : exit_stage_failed;
}

constexpr std::chrono::milliseconds between_looks{200};

// By which a file that was saved is known, whether it was written anew or another one put in its place.
std::string state_of(const fs::path& folder) {
  std::string state;
  for (const char* name : {"stage.cu", "predictions.json"}) {
    struct stat found = {};
    if (stat((folder / name).c_str(), &found) == 0) {
      state += fmt::format("{} {} {}.{:09} ", found.st_ino, found.st_size, found.st_mtim.tv_sec,
                           found.st_mtim.tv_nsec);
    } else {
      state += "none ";
    }
  }
  return state;
}

void wait_a_little() {
  pollfd interrupt{.fd = interrupt_descriptor(), .events = POLLIN, .revents = 0};
  (void)poll(&interrupt, 1, static_cast<int>(between_looks.count()));
  throw_if_interrupted();
}

// Until Ctrl-C: a check, and another one after each save.
[[noreturn]] void watch(const check_request& options, const fs::path& folder) {
  for (;;) {
    std::string checked = state_of(folder);
    try {
      (void)check_once(options);
    } catch (const usage_error& error) {
      print_line(fmt::format("lab: {}", error.what()));
    }
    print_line(fmt::format("watching {}: a save checks again, Ctrl-C ends", shown_path(folder / "stage.cu")));
    while (state_of(folder) == checked) wait_a_little();
    // An editor may write in several steps.
    do {
      checked = state_of(folder);
      wait_a_little();
    } while (state_of(folder) != checked);
    print_line("");
  }
}

int check_exercise(const check_request& options) {
  if (options.hint) return show_hints(options);
  check_files({}, {{"--json", options.json_path}});
  const fs::path folder = exercises_directory() / exercise_path(options.exercise);
  std::error_code error;
  if (options.watch && fs::is_directory(folder, error)) watch(options, folder);
  return check_once(options);
}

}  // namespace

verb check_verb(CLI::App& program) {
  const auto options = std::make_shared<check_request>();
  CLI::App* app = add_verb(program, "check");
  app->add_option("exercise", options->exercise, "as 'lab new' has named it: TRACK/STAGE")
      ->type_name("EXERCISE")
      ->required();
  app->add_option_function<std::string>(
         "--hint",
         [options](const std::string& text) {
           options->hint = static_cast<int>(std::min<std::int64_t>(parse_integer(text, "--hint"), 1'000));
         },
         "show the hints from the first to this one, and check nothing")
      ->type_name("NUMBER");
  app->add_flag("--solution", options->solution,
                "check the lab's own stage against the exercise's checkpoints");
  app->add_option("--student", options->student, "with --solution: whose sizes")->type_name("ID");
  app->add_flag("--watch", options->watch, "check again whenever stage.cu or predictions.json is saved");
  add_timeout(*app, options->timeout_seconds);
  add_json(*app, options->json_path);
  add_seed(*app, options->seed);
  add_trial_seed(*app, options->trial_seed);
  app->callback([options] {
    if (!options->student.empty() && !options->solution)
      throw usage_error("--student goes with --solution: an exercise knows whose it is");
    if (options->hint && options->solution) throw usage_error("--hint and --solution exclude each other");
    if (options->watch && (options->hint || options->solution))
      throw usage_error("--watch is for an exercise of your own: it excludes --hint and --solution");
  });
  return {.app = app,
          .perform = [options] { return check_exercise(*options); },
          .needs =
              [options] {
                return build_request{.device = "emulator",
                                     .select = select_exercise(options->exercise, options->solution),
                                     .counts = true};
              }};
}

}  // namespace lab::front
