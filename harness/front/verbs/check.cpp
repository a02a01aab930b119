#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "harness/front/exercises/examination.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/verbs/verbs.hpp"

namespace lab::front {
namespace {

void print_line(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

int show_hints(const check_request& options) {
  const std::vector<std::string> hints = take_hints(options);
  for (std::size_t k = 0; k < hints.size(); ++k) print_line(fmt::format("hint {}: {}", k + 1, hints[k]));
  return exit_ok;
}

void tell_step(const check_step& step, const examination& so_far) {
  const auto number = &step - so_far.steps.data() + 1;
  print_line(fmt::format("{}. {:<12} {:<6}  {}", number, step.name,
                         step.status == step_status::passed ? "ok" : "FAIL", step.message));
  if (step.name != "checkpoints") return;
  for (const checked_checkpoint& one : so_far.checkpoints) {
    print_line(
        fmt::format("   {}: {}: {}", one.name, one.reached ? "reached" : "MISSED", checkpoint_text(one)));
    if (!one.reached && one.line > 0)
      print_line(fmt::format("      {}:{}: {}", one.file, one.line, one.code));
  }
}

void tell_predictions(const examination& found) {
  int right = 0;
  for (const judged_answer& one : found.predictions) {
    right += one.right ? 1 : 0;
    print_line(fmt::format("   {}: you predicted {}, {}", one.name, one.given.empty() ? "nothing" : one.given,
                           one.right ? "right" : "and it is " + one.answer));
    print_line("      " + one.because);
  }
  if (!found.predictions.empty())
    print_line(fmt::format("predictions: {} of {} right", right, found.predictions.size()));
}

}  // namespace

int check_exercise(const check_request& options) {
  if (options.hint) return show_hints(options);
  check_files({}, {{"--json", options.json_path}});
  const examination found = examine(options, tell_step);
  if (!found.notice.empty()) print_line("note: " + found.notice);
  tell_predictions(found);
  print_line(fmt::format("{}: {}", found.exercise, found.passed ? "PASSED" : "not passed yet"));
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

}  // namespace lab::front
