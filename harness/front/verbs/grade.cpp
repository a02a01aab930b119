#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "harness/front/grade/grade.hpp"
#include "harness/front/grade/reports.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/verbs/verbs.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

void tell_line(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// The key is no student's to hand in, nor a student's folder to be the key.
void refuse_nested(const fs::path& key, const fs::path& submissions) {
  const fs::path a = fs::weakly_canonical(key);
  const fs::path b = fs::weakly_canonical(submissions);
  const auto lies_in = [](const fs::path& inner, const fs::path& outer) {
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
  };
  if (lies_in(a, b) || lies_in(b, a))
    throw usage_error("the key and the submissions must not lie in each other's folder");
}

void tell_whole(const submission_grade& grade) {
  for (const graded_part& part : grade.parts) {
    std::string text = part.text;
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
      text.insert(at + 1, std::string(25, ' '));
    tell_line(fmt::format("  {:<12} {:>4}/{:<4}  {}", part.name,
                          part.is_counted ? points_text(part.points) : "-", points_text(part.most), text));
  }
}

// Why points are missing in the part, in a line.
std::string reason_of(const graded_part& part, const submission_grade& grade) {
  // Of the steps of a check, the first that failed.
  const bool is_of_steps = part.name == "correctness" || part.name == "checkpoints";
  for (const check_step& step : grade.found.steps) {
    if (is_of_steps && step.status == step_status::failed) return step.message;
  }
  return part.text.substr(0, part.text.find('\n'));
}

// "3 of 30, about 4 min left: anna"
std::string place_of(const submission& one, std::size_t done, std::size_t all, double seconds) {
  std::string left;
  if (done > 0) {
    const double each = seconds / static_cast<double>(done);
    const double minutes = each * static_cast<double>(all - done) / 60;
    left = minutes < 1 ? ", less than a minute left" : fmt::format(", about {:.0f} min left", minutes);
  }
  return fmt::format("{} of {}{}: {}", done + 1, all, left, one.name);
}

void tell_row(const submission_grade& grade, std::size_t width) {
  if (!grade.lab_fault.empty())
    return tell_line(fmt::format("{}  NOT GRADED: {}", padded_right(grade.name, width), grade.lab_fault));
  std::string cells;
  std::string why;
  for (const graded_part& part : grade.parts) {
    if (!part.is_counted) continue;
    cells += fmt::format("  {} {:>4}/{:<2}", part.name, points_text(part.points), points_text(part.most));
    if (part.points == part.most || part.text == counted_when_right) continue;
    const std::string reason = shortened(reason_of(part, grade), 100);
    if (why.find(reason) == std::string::npos) why += (why.empty() ? "  " : "; ") + reason;
  }
  tell_line(fmt::format("{}{}  {:>4}/{}{}", padded_right(grade.name, width), cells,
                        points_text(grade.points()), points_text(grade.most()), why));
}

void tell_summary(const std::vector<submission_grade>& grades, std::chrono::duration<double> took) {
  double points = 0;
  std::size_t graded = 0;
  for (const submission_grade& grade : grades) {
    if (!grade.lab_fault.empty()) continue;
    points += grade.points();
    ++graded;
  }
  std::string line = fmt::format("{} of {} graded in {:.0f} s", graded, grades.size(), took.count());
  if (graded > 0)
    line += fmt::format(", {} of {} points on average", points_text(points / static_cast<double>(graded)),
                        points_text(grades.front().most()));
  tell_line(line);
}

}  // namespace

int grade_submissions(const grade_options& options) {
  if (!options.make_key.empty()) {
    make_key(options.make_key);
    tell_line(fmt::format("wrote {}: a seed. It is the teacher's; keep it from students.",
                          (fs::path(options.make_key) / "key.json").string()));
    return exit_ok;
  }
  check_files({}, {{"--json", options.json_path},
                   {"--gradescope", options.gradescope_path},
                   {"--junit", options.junit_path}});
  refuse_nested(options.key, options.submission);
  const std::string path = exercise_path(options.exercise);
  const std::vector<submission> all = find_submissions(options.submission, path);
  if (all.size() > 1 && !options.gradescope_path.empty())
    throw usage_error("--gradescope takes one submission, and these are several");
  grader with(path, read_key(options.key),
              {.unconfined = options.unconfined,
               .timeout_seconds = options.timeout_seconds,
               .device = options.device});
  std::string sizes;
  for (const auto& [name, value] : with.sizes()) sizes += fmt::format(" {} = {}", name, value);
  tell_line(fmt::format("{}, the key's sizes:{}", path, sizes));
  tell_line(with.confinement_text());
  tell_line("GPU time: " + with.gpu_text());

  std::size_t width = 0;
  for (const submission& one : all) width = std::max(width, display_width(one.name));
  std::vector<submission_grade> grades;
  bool all_graded = true;
  const auto began = std::chrono::steady_clock::now();
  for (const submission& one : all) {
    const std::chrono::duration<double> past = std::chrono::steady_clock::now() - began;
    grades.push_back(with.grade(one, place_of(one, grades.size(), all.size(), past.count())));
    all_graded = all_graded && grades.back().lab_fault.empty();
    tell_row(grades.back(), width);
  }
  if (grades.size() == 1) {
    tell_whole(grades.front());
  } else {
    tell_summary(grades, std::chrono::steady_clock::now() - began);
  }
  if (!options.json_path.empty()) {
    write_file(options.json_path, json_text({{"schema", "kernel-lab-grade"},
                                             {"version", 1},
                                             {"exercise", path},
                                             {"sizes", with.sizes()},
                                             {"confinement", with.confinement_text()},
                                             {"gpu", with.gpu_text()},
                                             {"submissions", grades}}));
  }
  if (!options.junit_path.empty()) write_file(options.junit_path, junit_xml(grades, "lab grade " + path));
  // Gradescope tells the student that the grader failed where it finds no file.
  if (!options.gradescope_path.empty() && all_graded)
    write_file(options.gradescope_path, json_text(gradescope_results(grades.front(), "lab grade " + path)));
  return all_graded ? exit_ok : exit_stage_failed;
}

}  // namespace lab::front
