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

// "30", "22.5"
[[nodiscard]] std::string points_text(double points);

}  // namespace lab::front
