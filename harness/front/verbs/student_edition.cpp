#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "common/file.hpp"
#include "harness/front/command_line/options.hpp"
#include "harness/front/exercises/marked_source.hpp"
#include "harness/front/exercises/workbook.hpp"
#include "harness/front/exercises/written_part.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/verbs/verbs.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

constexpr const char* source_root = LAB_SOURCE_ROOT;
constexpr std::chrono::seconds listing_timeout{60};

// What a student edition lacks: answers, and tests that need stages by name, wrong kernels or solutions.
constexpr std::string_view left_out[] = {".ci/",           "docs/teacher/",    "tests/claims.json",
                                         "tests/draw/",    "tests/exercises/", "tests/front/",
                                         "tests/hostile/", "tests/processes/", "tests/program/",
                                         "tests/reports/", "tests/tracks/",    "tests/wrong/"};

// The files that Git tracks: what a teacher keeps beside them (keys, submissions) is in no edition.
std::vector<std::string> tracked_files() {
  const command_result listed =
      run_command({"/usr/bin/env", "git", "-C", source_root, "ls-files", "-z"}, listing_timeout);
  if (listed.ending.by_signal || listed.ending.code != 0) {
    throw environment_error(fmt::format("a student edition is made of the files that Git tracks in {}: {}",
                                        source_root, cleaned(listed.output, 200)));
  }
  std::vector<std::string> files;
  for (std::size_t begin = 0; begin < listed.output.size();) {
    const std::size_t end = std::min(listed.output.find('\0', begin), listed.output.size());
    files.push_back(listed.output.substr(begin, end - begin));
    begin = end + 1;
  }
  return files;
}

// The stages that become exercises: all that have one, but the first of each track, with which a ladder
// begins.
std::set<std::string> stages_to_cut(const std::vector<std::string>& files) {
  std::map<std::string, std::string> first;  // of a track
  std::set<std::string> cut;
  for (const std::string& file : files) {
    const fs::path path(file);
    if (file.rfind("stages/", 0) != 0 || path.filename() != "stage.cu") continue;
    const std::string stage = path.parent_path().lexically_relative("stages").string();
    const auto [found, is_first] = first.emplace(stage.substr(0, stage.find('/')), stage);
    if (!is_first && find_exercise(stage)) cut.insert(stage);
  }
  return cut;
}

std::string cut_source(const std::string& solution, const exercise& exercise) {
  std::string source;
  for (const std::string& line : cut(lines_of(solution), exercise)) source += line + "\n";
  return source;
}

// exercises.json for a source that is cut. One exercise a stage: another's solution would stand in its
// source.
std::string edited_exercises(const std::string& text, const exercise& exercise, const std::string& solution) {
  nlohmann::ordered_json document = nlohmann::ordered_json::parse(text);
  nlohmann::ordered_json& all = document.at("exercises");
  all.erase(all.begin() + 1, all.end());
  all.front().erase("cut_comments");
  const word_set kept = words_for(exercise, cut_source(solution, exercise));
  for (const std::string& word : words_for(exercise, solution)) {
    if (kept.count(word) == 0) all.front()["words"].push_back(word);
  }
  return document.dump(2) + "\n";
}

// The records of proofs, of the stages that are left.
std::string proofs_without(const std::set<std::string>& cut, const std::string& text) {
  nlohmann::ordered_json document = nlohmann::ordered_json::parse(text);
  nlohmann::ordered_json& proofs = document.at("proofs");
  proofs.erase(std::remove_if(proofs.begin(), proofs.end(),
                              [&](const auto& one) { return cut.count(one.at("stage")) > 0; }),
               proofs.end());
  return document.dump() + "\n";
}

void copy_edition(const fs::path& folder, const std::vector<std::string>& files,
                  const std::set<std::string>& cut) {
  for (const std::string& file : files) {
    const bool is_left_out = std::any_of(std::begin(left_out), std::end(left_out),
                                         [&](std::string_view one) { return file.rfind(one, 0) == 0; });
    const fs::path from = fs::path(source_root) / file;
    if (is_left_out || !fs::exists(from)) continue;
    const fs::path path(file);
    const std::string stage = path.parent_path().lexically_relative("stages").string();
    const bool is_cut = cut.count(stage) > 0;
    fs::create_directories(folder / path.parent_path());
    if (is_cut && path.filename() == "stage.cu") {
      write_file(folder / path.parent_path() / "exercise.cu",
                 cut_source(read_text(from), *find_exercise(stage)));
    } else if (is_cut && path.filename() == "exercises.json") {
      write_file(folder / path, edited_exercises(read_text(from), *find_exercise(stage),
                                                 read_text(from.parent_path() / "stage.cu")));
    } else if (path.parent_path() == "reports/proofs") {
      write_file(folder / path, proofs_without(cut, read_text(from)));
    } else {
      fs::copy_file(from, folder / path);
    }
  }
}

int make_edition(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error)))
    throw usage_error(fmt::format("{} is there already, and nothing in it was touched", folder.string()));
  const std::vector<std::string> files = tracked_files();
  const std::set<std::string> cut = stages_to_cut(files);
  try {
    copy_edition(folder, files, cut);
  } catch (const std::exception& failure) {
    fs::remove_all(folder, error);
    throw environment_error(fmt::format("{} cannot be made: {}", folder.string(), failure.what()));
  }
  std::printf("wrote %s: %zu stages are exercises, and have no solution there\n", folder.c_str(), cut.size());
  return exit_ok;
}

}  // namespace

verb student_edition_verb(CLI::App& program) {
  const auto folder = std::make_shared<std::string>();
  CLI::App* app = add_verb(program, "student-edition");
  app->add_option("folder", *folder, "a folder that is not there yet")->type_name("DIR")->required();
  return {.app = app, .perform = [folder] { return make_edition(*folder); }, .needs = nothing_to_build};
}

}  // namespace lab::front
