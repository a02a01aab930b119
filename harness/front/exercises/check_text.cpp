#include "harness/front/exercises/check_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/front/output/format.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/workers/worker.hpp"

namespace lab::front {
namespace {

// Below a step's name and status; further in, words would have no room on a narrow terminal.
constexpr std::size_t below_message = 24;
constexpr std::size_t below_name = 6;
constexpr std::size_t narrow = 60;

// The first `word` of the text in green or red.
std::string coloured(std::string text, const std::string& word, bool good, const check_style& style) {
  const std::size_t at = text.find(word);
  if (!style.colour || at == std::string::npos) return text;
  return text.replace(at, word.size(), fmt::format("\033[{}m{}\033[0m", good ? 32 : 31, word));
}

std::string wrapped_line(const std::string& text, std::size_t indentation, const check_style& style) {
  return wrapped(text, style.width, indentation) + "\n";
}

std::string source_text(const shown_line& at, const check_style& style) {
  return caret_text(clipped(at, below_name, style.width), below_name) + "\n";
}

std::string checkpoint_lines(const checked_checkpoint& one, const check_style& style) {
  const std::string word = one.reached ? "reached" : "MISSED";
  std::string text = coloured(
      wrapped_line(fmt::format("   {}: {}: {}", one.name, word, checkpoint_text(one)), below_name, style),
      ": " + word, one.reached, style);
  if (!one.reached && one.line > 0)
    text += wrapped_line(fmt::format("      {}:{}:", one.file, one.line), below_name, style) +
            source_text({.line = one.line, .code = one.code}, style);
  return text;
}

std::string printed_text(const printed_output& printed, const check_style& style) {
  if (printed.lines == 0) return "";
  std::string text = "   printed:\n";
  for (const std::string& line : printed.first) text += wrapped_line("      " + line, below_name, style);
  const std::size_t hidden = printed.lines - printed.first.size();
  const bool has_more = printed.lines > worker::most_output_lines;
  if (hidden > 0)
    text += fmt::format("      … and {}{} more {}\n", has_more ? "at least " : "", hidden,
                        hidden == 1 ? "line" : "lines");
  return text;
}

}  // namespace

check_style style_of_standard_output() {
  const std::size_t width = standard_output_width();
  return {.colour = standard_output_has_colour(), .seconds = width > 0, .width = width};
}

std::string step_text(const check_step& step, const examination& so_far, const check_style& style) {
  const auto number = &step - so_far.steps.data() + 1;
  const bool passed = step.status == step_status::passed;
  const std::string status = passed ? "ok" : "FAIL";
  std::string line = fmt::format("{}. {:<12} {:<6}  {}", number, step.name, status, step.message);
  if (style.seconds) line += fmt::format(" ({:.1f} s)", step.seconds);
  const bool is_narrow = style.width > 0 && style.width < narrow;
  std::string text = coloured(wrapped_line(line, is_narrow ? below_name : below_message, style), " " + status,
                              passed, style);
  if (step.at.line > 0) text += source_text(step.at, style);
  if (!step.warning.empty()) text += wrapped_line("   warning: " + step.warning, below_name, style);
  if (step.name == "right") text += printed_text(so_far.printed, style);
  if (step.name != "checkpoints") return text;
  for (const checked_checkpoint& one : so_far.checkpoints) text += checkpoint_lines(one, style);
  return text;
}

std::string predictions_text(const examination& found, const check_style& style) {
  std::string text;
  for (const judged_answer& one : found.predictions) {
    text += wrapped_line(
        fmt::format("   {}: you predicted {}, {}", one.name, one.given.empty() ? "nothing" : one.given,
                    one.right ? "right" : "and it is " + one.answer),
        below_name, style);
    text += wrapped_line("      " + one.because, below_name, style);
  }
  if (found.predictions.empty()) return text;
  const auto right = std::count_if(found.predictions.begin(), found.predictions.end(),
                                   [](const judged_answer& one) { return one.right; });
  return text + fmt::format("predictions: {} of {} right\n", right, found.predictions.size());
}

std::string outcome_text(const examination& found, const check_style& style) {
  const std::string word = found.passed ? "PASSED" : "not passed yet";
  return coloured(fmt::format("{}: {}", found.exercise, word), word, found.passed, style);
}

}  // namespace lab::front
