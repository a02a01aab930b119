#include "harness/front/grade/reports.hpp"

#include <fmt/format.h>

#include <cmath>

#include "harness/front/output/format.hpp"

namespace lab::front {
namespace {

double rounded(double points) {
  return std::round(points * 100) / 100;
}

std::string escaped_xml(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\n':
        result += "&#10;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace

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
