#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "common/file.hpp"
#include "harness/front/command_line/options.hpp"
#include "harness/front/exercises/marked_source.hpp"
#include "harness/front/exercises/workbook.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/regular_expression.hpp"
#include "harness/front/output/table.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/selection/patterns.hpp"
#include "harness/front/verbs/verbs.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {
namespace {

// Exercises (docs/exercises.md).
struct new_options {
  std::string stage;     // "TRACK/NN_name": a stage of one's own
  std::string from;      // of the same track: what it begins with; empty: the track's first
  std::string exercise;  // instead of `stage`
  std::string student;   // whose sizes the exercise gets
  bool list = false;     // show what exercises there are, and make nothing
};

namespace fs = std::filesystem;

// The names of a directory's directories that hold `file`, sorted.
std::vector<std::string> directories_with(const fs::path& directory, const char* file) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& one : fs::directory_iterator(directory, error)) {
    if (fs::exists(one.path() / file, error)) names.push_back(one.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string suggestion(const std::string& name, const std::vector<std::string>& known) {
  const auto near = near_names(name, known);
  return near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "));
}

void tell_created(const fs::path& folder, const file_texts& files) {
  for (const auto& [name, unused] : files) std::printf("wrote %s\n", shown_path(folder / name).c_str());
}

int make_exercise(const new_options& options) {
  const std::string path = exercise_path(options.exercise);
  check_student(options.student);
  const auto exercise = find_exercise(path);
  if (!exercise) {
    throw usage_error(fmt::format("there is no exercise '{}'{} (lab new --list shows all)", path,
                                  suggestion(path, exercise_paths())));
  }
  const fs::path folder = exercises_directory() / path;
  const file_texts files = exercise_files(path, *exercise, options.student);
  make_folder(folder, files);
  tell_created(folder, files);
  std::printf("read %s, predict, write the kernel, then: ./lab check %s\n",
              shown_path(folder / "README.md").c_str(), path.c_str());
  return exit_ok;
}

// The stage's source as a beginning: another namespace and idea, and kernels without bodies.
std::string stage_beginning(const std::string& source, const std::string& track, const std::string& name) {
  std::string text = replaced_once(source, "^(//[^\n]*\n)+",
                                   "// What limits the stage before, and what this one does about it.\n");
  text = replaced(text, fmt::format("namespace lab::{}::[a-z0-9_]+", track),
                  fmt::format("namespace lab::{}::stage_{}", track, name));
  text = replaced(text, R"re(\.idea =\s*"([^"\\]|\\.)*")re", ".idea = \"not written yet\"");
  int emptied = 0;
  text = without_kernel_bodies(text, emptied);
  if (emptied > 0) return text;
  return "#error \"the stage is not written yet: its kernel is in files of the track; remove this line when "
         "it is "
         "yours\"\n" +
         text;
}

int make_stage(const new_options& options) {
  const auto parts = matched_groups(options.stage, "([A-Za-z0-9_]{1,60})/([0-9]{2}[a-z]?_[a-z0-9_]{1,56})");
  if (parts.empty()) {
    throw usage_error(fmt::format(
        "a stage is named TRACK/NN_name, as reduction/09_mine: two digits, a letter or none, then small "
        "letters, digits and underscores, not '{}'",
        cleaned(options.stage, 100)));
  }
  const std::string& track = parts[1];
  const std::string& name = parts[2];
  const auto tracks = directories_with(stages_directory(), "track.cpp");
  if (std::find(tracks.begin(), tracks.end(), track) == tracks.end())
    throw usage_error(fmt::format("there is no track '{}'{}", track, suggestion(track, tracks)));
  const auto stages = directories_with(stages_directory() / track, "stage.cu");
  if (std::find(stages.begin(), stages.end(), name) != stages.end())
    throw usage_error(fmt::format("{} is a stage of the lab already: choose another name", options.stage));
  std::string from = options.from.empty() ? stages.front() : options.from;
  if (const std::size_t slash = from.find('/'); slash != std::string::npos) {
    if (from.substr(0, slash) != track)
      throw usage_error(
          fmt::format("--from {}: a stage is made from one of its own track, {}", cleaned(from, 100), track));
    from.erase(0, slash + 1);
  }
  if (std::find(stages.begin(), stages.end(), from) == stages.end())
    throw usage_error(
        fmt::format("--from: {} has no stage '{}'{}", track, cleaned(from, 100), suggestion(from, stages)));
  const fs::path source = stages_directory() / track / from;
  if (fs::exists(source / "link.cmake")) {
    throw usage_error(fmt::format(
        "--from {}/{}: it is linked with more than a stage is, and cannot be a beginning", track, from));
  }
  const fs::path folder = exercises_directory() / options.stage;
  const file_texts files{
      {"stage.cu", stage_beginning(read_text(source / "stage.cu"), track, name)},
      {"README.md",
       fmt::format(
           "# {0}\n\nBegun from {1}/{2}, whose kernel is taken out. `./lab check {0}` fails until this one "
           "is written. When\nit passes, `mv exercises/{0} stages/{1}/` makes it a stage of the lab "
           "([add-a-stage.md](../../../docs/add-a-stage.md)),\nwithout `exercise.json`.\n",
           options.stage, track, from)},
      {"exercise.json", nlohmann::ordered_json{{"schema", "kernel-lab-exercise"},
                                               {"version", 1},
                                               {"exercise", options.stage},
                                               {"student", ""},
                                               {"checks", 0},
                                               {"hints", 0},
                                               {"kept", nullptr}}
                                .dump(2) +
                            "\n"}};
  make_folder(folder, files);
  tell_created(folder, files);
  std::printf("write the kernel, then: ./lab check %s\n", options.stage.c_str());
  return exit_ok;
}

int make_new(const new_options& options) {
  if (options.list) {
    if (!options.stage.empty() || !options.exercise.empty())
      throw usage_error("--list shows all exercises; it makes none, and takes no name");
    // Tracks in the order of the lessons, as everywhere.
    const auto tracks = worker_set(backend::emulator).names();
    const auto track_position = [&](const std::string& path) {
      return std::find_if(tracks.begin(), tracks.end(),
                          [&](const track_description& one) { return path.starts_with(one.name + "/"); });
    };
    auto paths = exercise_paths();
    std::stable_sort(paths.begin(), paths.end(),
                     [&](const auto& a, const auto& b) { return track_position(a) < track_position(b); });
    table_rows rows;
    for (const std::string& path : paths) rows.push_back({path, find_exercise(path)->title});
    std::printf("%s", aligned_text(rows, {alignment::left}, "").c_str());
    return exit_ok;
  }
  if (options.exercise.empty() == options.stage.empty())
    throw usage_error("lab new takes TRACK/NN_name, or --exercise TRACK/STAGE; --list shows the exercises");
  if (options.exercise.empty()) {
    if (!options.student.empty()) throw usage_error("--student goes with --exercise");
    return make_stage(options);
  }
  if (!options.from.empty()) throw usage_error("--from goes with TRACK/NN_name, and not with --exercise");
  return make_exercise(options);
}

}  // namespace

verb new_verb(CLI::App& program) {
  const auto options = std::make_shared<new_options>();
  CLI::App* app = add_verb(program, "new");
  app->add_option("stage", options->stage, "a stage of your own, TRACK/NN_name, in exercises/")
      ->type_name("STAGE");
  app->add_option("--from", options->from,
                  "the stage of the same track that it begins with (default: the first)")
      ->type_name("STAGE");
  app->add_option("--exercise", options->exercise, "the exercise of a stage, TRACK/STAGE, in exercises/")
      ->type_name("STAGE");
  app->add_option("--student", options->student, "whose: sizes differ from student to student")
      ->type_name("ID");
  app->add_flag("--list", options->list, "show the exercises that there are");
  // Nothing has to be built.
  return {.app = app, .perform = [options] { return make_new(*options); }, .needs = nothing_to_build};
}

}  // namespace lab::front
