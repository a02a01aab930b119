#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "harness/front/command_line/options.hpp"
#include "harness/front/grade/grade.hpp"
#include "harness/front/grade/reports.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/verbs/verbs.hpp"

namespace lab::front {
namespace {

struct grade_options {
  std::string exercise;
  std::string submission;
  std::string key;
  std::string make_key;  // a folder to make, and nothing to grade
  bool unconfined = false;
  std::string device;  // that submissions are timed on; empty: cuda:0 where there is one, else none
  std::optional<double> timeout_seconds;
  std::string gradescope_path;  // a file; a folder where there are several submissions
  std::string feedback_path;    // the same
  std::string csv_path;
  std::string junit_path;
  std::string json_path;
};

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

// A file for each submission: the path itself where there is one, else NAME and its ending in that folder.
class written_for_each {
 public:
  // Makes the folder. Throws usage_error where that is a file.
  written_for_each(const char* option, const std::string& path, const std::string& ending,
                   const std::vector<submission>& all) {
    if (path.empty()) return;
    std::error_code error;
    if (all.size() == 1 && !fs::is_directory(path, error)) {
      files_ = {path};
      return;
    }
    if (!fs::is_directory(path, error)) fs::create_directories(path, error);
    if (error || !fs::is_directory(path, error))
      throw usage_error(fmt::format("{} {}: of several submissions it must be a folder", option, path));
    for (const submission& one : all) {
      // Two names may be one where they are cleaned.
      fs::path file = fs::path(path) / (one.name + ending);
      for (int k = 2; std::find(files_.begin(), files_.end(), file) != files_.end(); ++k)
        file = fs::path(path) / fmt::format("{} ({}){}", one.name, k, ending);
      files_.push_back(file);
    }
    is_folder_ = true;
  }

  // The one file; empty where there is none or a folder of them.
  [[nodiscard]] std::string single() const {
    return files_.empty() || is_folder_ ? "" : files_.front().string();
  }
  void write(std::size_t submission, const std::string& text) const {
    if (!files_.empty()) write_file(files_[submission].string(), text);
  }

 private:
  std::vector<fs::path> files_;
  bool is_folder_ = false;
};

void tell_whole(const submission_grade& grade) {
  for (const graded_part& part : grade.parts) {
    std::string text = part.text;
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
      text.insert(at + 1, std::string(25, ' '));
    tell_line(fmt::format("  {:<12} {:>4}/{:<4}  {}", part.name,
                          part.is_counted ? points_text(part.points) : "-", points_text(part.most), text));
  }
}

// "3 of 30, about 4 min left: anna"
std::string progress_text(const submission& one, std::size_t done, std::size_t all, double seconds) {
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

int grade_submissions(const grade_options& options) {
  if (!options.make_key.empty()) {
    make_key(options.make_key);
    tell_line(fmt::format("wrote {}: a seed. It is the teacher's; keep it from students.",
                          (fs::path(options.make_key) / "key.json").string()));
    return exit_ok;
  }
  refuse_nested(options.key, options.submission);
  const std::string path = exercise_path(options.exercise);
  const std::vector<submission> all = find_submissions(options.submission, path);
  const written_for_each gradescope("--gradescope", options.gradescope_path, ".json", all);
  const written_for_each feedback("--feedback", options.feedback_path, ".txt", all);
  check_files({}, {{"--json", options.json_path},
                   {"--csv", options.csv_path},
                   {"--gradescope", gradescope.single()},
                   {"--feedback", feedback.single()},
                   {"--junit", options.junit_path}});
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
    grades.push_back(with.grade(one, progress_text(one, grades.size(), all.size(), past.count())));
    tell_row(grades.back(), width);
    // Gradescope tells the student that the grader failed where it finds no file.
    if (!grades.back().lab_fault.empty()) {
      all_graded = false;
      continue;
    }
    gradescope.write(grades.size() - 1, json_text(gradescope_results(grades.back(), "lab grade " + path)));
    feedback.write(grades.size() - 1, feedback_text(grades.back(), "lab grade " + path));
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
  if (!options.csv_path.empty()) write_file(options.csv_path, grades_csv(grades));
  return all_graded ? exit_ok : exit_stage_failed;
}

}  // namespace

verb grade_verb(CLI::App& program) {
  const auto options = std::make_shared<grade_options>();
  CLI::App* app = add_verb(program, "grade");
  app->add_option("exercise", options->exercise, "which: TRACK/STAGE")->type_name("EXERCISE");
  app->add_option("--submission", options->submission,
                  "a student's stage.cu or folder, or a folder with an entry for each student")
      ->type_name("PATH");
  app->add_option("--key", options->key, "the teacher's folder: the seed, and aims of the teacher's own")
      ->type_name("DIR");
  app->add_option("--make-key", options->make_key, "make such a folder, and grade nothing")->type_name("DIR");
  app->add_flag("--unconfined", options->unconfined,
                "where bubblewrap does not work: run submissions without walls");
  app->add_option(
         "--device,--devices", options->device,
         "that submissions are timed on: cuda:0 (default where there is one), or emulator for no time")
      ->type_name("DEVICE");
  app->add_option("--gradescope", options->gradescope_path,
                  "write Gradescope's results.json; of several submissions, PATH/NAME.json for each")
      ->type_name("PATH");
  app->add_option("--feedback", options->feedback_path,
                  "write what the student may read; of several submissions, PATH/NAME.txt for each")
      ->type_name("PATH");
  app->add_option("--csv", options->csv_path, "write a table: a row for each submission")->type_name("FILE");
  app->add_option("--junit", options->junit_path, "write JUnit XML")->type_name("FILE");
  add_timeout(*app, options->timeout_seconds);
  add_json(*app, options->json_path);
  app->footer("Exit code: 0 when all are graded, whatever their points; 1 when the lab could not grade one.");
  app->callback([options] {
    const bool grades = !options->exercise.empty() || !options->submission.empty() || !options->key.empty();
    if (!options->device.empty()) (void)parse_device(options->device);
    if (!options->make_key.empty()) {
      if (grades) throw usage_error("--make-key grades nothing, and takes nothing else");
      return;
    }
    for (const auto& [given, name] : {std::pair{&options->exercise, "EXERCISE"},
                                      {&options->submission, "--submission"},
                                      {&options->key, "--key"}}) {
      if (given->empty()) throw usage_error(fmt::format("lab grade needs {}", name));
    }
  });
  return {.app = app,
          .perform = [options] { return grade_submissions(*options); },
          .needs =
              [options] {
                if (!options->make_key.empty()) return nothing_to_build();
                build_request needs{
                    .device = "emulator", .select = select_exercise(options->exercise, true), .counts = true};
                if (needed_backends(options->device).front() == backend::cuda)
                  needs.also = build_targets({.device = "cuda:0", .select = needs.select});
                return needs;
              }};
}

}  // namespace lab::front
