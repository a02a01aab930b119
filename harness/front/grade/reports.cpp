#include "harness/front/grade/reports.hpp"

#include <fmt/format.h>

#include <cmath>

#include "harness/front/output/format.hpp"

namespace lab::front {
namespace {

double rounded(double points) {
  return std::round(points * 100) / 100;
}

std::string indented(std::string text, std::size_t columns) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, std::string(columns, ' '));
  return std::string(columns, ' ') + text;
}

std::string csv_field(std::string text) {
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos)
    text.insert(text.begin(), '\'');
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string reason_of(const graded_part& part, const submission_grade& grade) {
  // Of the steps of a check, the first that failed.
  const bool is_of_steps = part.name == "correctness" || part.name == "checkpoints";
  for (const check_step& step : grade.found.steps) {
    if (!is_of_steps || step.status != step_status::failed) continue;
    std::string misses;
    for (const checked_checkpoint& one : grade.found.checkpoints) {
      if (step.name == "checkpoints" && !one.reached)
        misses += (misses.empty() ? "" : "; ") + one.name + " " + figure_text(one);
    }
    return misses.empty() ? step.message : misses;
  }
  return part.text.substr(0, part.text.find('\n'));
}

std::string feedback_text(const submission_grade& grade, const std::string& title) {
  std::string text = fmt::format("{}\n{}: {} of {} points\n", title, grade.name, points_text(grade.points()),
                                 points_text(grade.most()));
  for (const graded_part& part : grade.parts) {
    text += fmt::format("\n{}: {}\n{}\n", part.name,
                        part.is_counted ? points_text(part.points) + " of " + points_text(part.most)
                                        : points_text(part.most) + " points, which are not counted here",
                        indented(part.text, 2));
    if (part.name != "checkpoints" || part.text == counted_when_right) continue;
    for (const checked_checkpoint& one : grade.found.checkpoints) {
      if (!one.reached && one.line > 0)
        text += fmt::format("  {}: the line that has most to do with it, {}:{}:\n{}\n", one.name, one.file,
                            one.line, caret_text({.line = one.line, .code = one.code}, 4));
    }
  }
  return text;
}

std::string grades_csv(const std::vector<submission_grade>& grades) {
  std::string text = "submission,points,most";
  if (!grades.empty()) {
    for (const graded_part& part : grades.front().parts) text += "," + csv_field(part.name);
  }
  text += ",reason\n";
  for (const submission_grade& grade : grades) {
    const bool is_graded = grade.lab_fault.empty();
    text += fmt::format("{},{},{}", csv_field(grade.name), is_graded ? points_text(grade.points()) : "",
                        points_text(grade.most()));
    std::string why = is_graded ? "" : "not graded: " + grade.lab_fault;
    for (const graded_part& part : grade.parts) {
      text += is_graded && part.is_counted ? "," + points_text(part.points) : ",";
      const bool is_missing =
          is_graded && part.is_counted && part.points < part.most && part.text != counted_when_right;
      if (!is_missing) continue;
      const std::string reason = reason_of(part, grade);
      if (why.find(reason) == std::string::npos) why += (why.empty() ? "" : "; ") + reason;
    }
    text += "," + csv_field(why) + "\n";
  }
  return text;
}

std::string points_text(double points) {
  return fmt::format("{:g}", rounded(points));
}

nlohmann::json gradescope_results(const submission_grade& grade, const std::string& title) {
  nlohmann::json tests = nlohmann::json::array();
  for (const graded_part& part : grade.parts) {
    if (!part.is_counted) continue;
    tests.push_back({{"name", part.name},
                     {"score", rounded(part.points)},
                     {"max_score", part.most},
                     {"status", part.points < part.most ? "failed" : "passed"},
                     {"output", part.text},
                     {"output_format", "text"},
                     {"visibility", "visible"}});
  }
  std::string output = title;
  for (const graded_part& part : grade.parts) {
    if (!part.is_counted)
      output += fmt::format("\n{} ({} points): {}", part.name, points_text(part.most), part.text);
  }
  return {{"score", rounded(grade.points())},
          {"execution_time", std::llround(grade.seconds)},
          {"output", output},
          {"output_format", "text"},
          {"visibility", "visible"},
          {"stdout_visibility", "hidden"},
          {"tests", tests}};
}

std::string junit_xml(const std::vector<submission_grade>& grades, const std::string& title) {
  std::string text = fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\">\n",
                                 escaped_xml(title));
  for (const submission_grade& grade : grades) {
    std::string cases;
    int count = 0;
    int failures = 0;
    for (const graded_part& part : grade.parts) {
      if (!part.is_counted) continue;
      ++count;
      // One clock holds for all parts.
      const std::string seconds = count == 1 ? fmt::format("{:.3f}", grade.seconds) : "0";
      cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{}\">", escaped_xml(grade.name),
                           escaped_xml(part.name), seconds);
      const std::string score = points_text(part.points) + " of " + points_text(part.most);
      if (!grade.lab_fault.empty()) {
        cases += fmt::format("<error message=\"{}\"/>", escaped_xml(grade.lab_fault));
      } else if (part.points < part.most) {
        ++failures;
        cases += fmt::format("<failure message=\"{} points\">{}</failure>", score, escaped_xml(part.text));
      }
      cases += fmt::format("<system-out>{} points</system-out></testcase>\n", score);
    }
    text += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n{}"
        "  </testsuite>\n",
        escaped_xml(grade.name), count, failures, grade.lab_fault.empty() ? 0 : count, grade.seconds, cases);
  }
  return text + "</testsuites>\n";
}

}  // namespace lab::front
