// Grades in the formats of others.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/front/grade/grade.hpp"

namespace lab::front {

// One submission, as Gradescope reads it from /autograder/results/results.json ("Autograder Specifications",
// gradescope-autograders.readthedocs.io/en/latest/specs): the counted parts are its tests, and `score` their
// sum.
[[nodiscard]] nlohmann::json gradescope_results(const submission_grade& grade, const std::string& title);

// JUnit XML, as Jenkins and GitLab read it: a suite for each submission, a case for each counted part, which
// has failed where points are missing; an error where a submission could not be graded.
[[nodiscard]] std::string junit_xml(const std::vector<submission_grade>& grades, const std::string& title);

// One submission for its student to read: the points of each part and why some are missing; of a missed
// checkpoint also the line that has most to do with it.
[[nodiscard]] std::string feedback_text(const submission_grade& grade, const std::string& title);

// RFC 4180: a row for each submission, with its points, those of each part, and why some are missing. A name
// or a reason that a spreadsheet would work out as a formula has ' before it.
[[nodiscard]] std::string grades_csv(const std::vector<submission_grade>& grades);

// Why points are missing in a part, in a line: what was found before what it was found of.
[[nodiscard]] std::string reason_of(const graded_part& part, const submission_grade& grade);

// "30", "22.5"
[[nodiscard]] std::string points_text(double points);

}  // namespace lab::front
