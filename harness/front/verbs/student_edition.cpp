#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>

#include "common/file.hpp"
#include "harness/front/command_line/options.hpp"
#include "harness/front/emulate/tokens.hpp"
#include "harness/front/exercises/marked_source.hpp"
#include "harness/front/exercises/workbook.hpp"
#include "harness/front/exercises/written_part.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/regular_expression.hpp"
#include "harness/front/process/child_process.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/selection/patterns.hpp"
#include "harness/front/verbs/verbs.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

constexpr const char* source_root = LAB_SOURCE_ROOT;
constexpr std::chrono::seconds listing_timeout{60};

// What a student edition lacks: answers; pages, pictures and tests that need stages by name, wrong kernels or
// solutions; and what checks or publishes the whole lab.
constexpr std::string_view left_out[] = {".ci/",
                                         ".pre-commit-config.yaml",
                                         "CONTRIBUTING.md",
                                         "docs/check_commands.py",
                                         "docs/check_figures.py",
                                         "docs/check_questions.py",
                                         "docs/first_hour.ipynb",
                                         "docs/pictures/view.png",
                                         "docs/site/",
                                         "docs/slides/",
                                         "docs/teacher/",
                                         "docs/workshop",
                                         "reports/counted.json",
                                         "reports/rooms.py",
                                         "tests/claims.json",
                                         "tests/draw/",
                                         "tests/exercises/",
                                         "tests/front/",
                                         "tests/hostile/",
                                         "tests/mutants/",
                                         "tests/processes/",
                                         "tests/program/",
                                         "tests/reports/",
                                         "tests/tracks/",
                                         "tests/wrong/"};

constexpr const char* note =
    "**This is a student edition.** A stage that has an exercise is not here until you have written it "
    "([how](docs/exercises.md#a-student-edition)).\nA command that names such a stage, on this page or "
    "another, says which exercise to make. Begin with `./lab new --exercise elementwise/01_naive`.\n";

// Of any other page with a command on such a stage.
constexpr const char* note_of_page =
    "**In this student edition** you write the stages that have an exercise ([how]({})). Write one before "
    "you type a command of this page that names it.\n";

// Reports of Nsight Compute hold the sources.
bool is_left_out(const std::string& file) {
  return fs::path(file).extension() == ".ncu-rep" ||
         std::any_of(std::begin(left_out), std::end(left_out),
                     [&](std::string_view one) { return file.rfind(one, 0) == 0; });
}

// The files that Git tracks: what a teacher keeps beside them (keys, submissions) is in no edition.
std::vector<std::string> tracked_files() {
  const command_result listed =
      run_command({"/usr/bin/env", "git", "-C", source_root, "ls-files", "-z"}, listing_timeout);
  if (!listed.ending.is_success()) {
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

// The stage in whose folder a file lies, if it lies in one.
std::string stage_of(const fs::path& file) {
  return file.parent_path().lexically_relative("stages").string();
}

std::set<std::string> stages_in(const std::vector<std::string>& files) {
  std::set<std::string> stages;
  for (const fs::path file : files) {
    if (*file.begin() == "stages" && file.filename() == "stage.cu") stages.insert(stage_of(file));
  }
  return stages;
}

// Those that have an exercise.
std::set<std::string> stages_to_cut(std::set<std::string> stages) {
  std::erase_if(stages, [](const std::string& stage) { return !find_exercise(stage); });
  return stages;
}

// Without comments and white space.
std::string code_of(const std::string& source) {
  std::string code;
  for (const token& one : tokens_of(source).tokens) code += one.text;
  return code;
}

std::string cut_source(const std::string& solution, const exercise& exercise) {
  std::string source;
  for (const std::string& line : cut(lines_of(solution), exercise)) source += line + "\n";
  return source;
}

// The stages whose source, or what is left of it, holds a part that is cut, word for word. A shorter one may
// well be anywhere.
std::set<std::string> stages_with_solutions(std::set<std::string> stages, const std::set<std::string>& cut) {
  constexpr std::size_t shortest = 24;
  std::vector<std::string> parts;
  for (const std::string& stage : cut) {
    const auto lines = lines_of(read_text(stages_directory() / stage / "stage.cu"));
    const exercise asked = *find_exercise(stage);
    for (const marked_region& region : find_regions(lines)) {
      const bool is_asked = std::any_of(asked.regions.begin(), asked.regions.end(),
                                        [&](const auto& one) { return one.name == region.name; });
      std::string part;
      for (std::size_t line = region.first; line < region.end; ++line) part += lines[line - 1] + "\n";
      if (const std::string code = code_of(part); is_asked && code.size() >= shortest) parts.push_back(code);
    }
  }
  std::erase_if(stages, [&](const std::string& stage) {
    const std::string source = read_text(stages_directory() / stage / "stage.cu");
    const std::string code =
        code_of(cut.count(stage) > 0 ? cut_source(source, *find_exercise(stage)) : source);
    return std::none_of(parts.begin(), parts.end(),
                        [&](const std::string& part) { return code.find(part) != std::string::npos; });
  });
  return stages;
}

// exercises.json for a source that is cut, so that nobody reads an answer or a hint by accident. One exercise
// a stage: another's solution would stand in its source.
std::string edited_exercises(const std::string& text, const exercise& exercise, const std::string& solution) {
  nlohmann::ordered_json document = nlohmann::ordered_json::parse(text);
  nlohmann::ordered_json& all = document.at("exercises");
  all.erase(all.begin() + 1, all.end());
  all.front().erase("cut_comments");
  const word_set kept = words_for(exercise, cut_source(solution, exercise));
  for (const std::string& word : words_for(exercise, solution)) {
    if (kept.count(word) == 0) all.front()["words"].push_back(word);
  }
  return turned(document.dump(2) + "\n");
}

// The page of a stage that has an exercise: what an exercise's own page has of it, which tells no answer.
std::string edited_page(const std::string& page, const std::string& stage) {
  return fmt::format("{}\n\n{}", page.substr(0, page.find('\n')),
                     page_without_figures(page, stage.substr(0, stage.find('/'))));
}

std::string where_to_write(const std::string& stage) {
  return fmt::format("\n**Exercise.** `./lab new --exercise {}` ([how](../../../docs/exercises.md)).\n",
                     stage);
}

// The page of a track without what the kernels of its stages count.
std::string page_without_counts(const std::string& page) {
  const std::size_t begin = page.find("\n## Counted without a GPU\n");
  if (begin == std::string::npos) return page;
  // As far as the next section, or the targets of links behind the last one.
  std::size_t links = page.find("\n[", begin + 1);
  while (links != std::string::npos && page.find("]: ", links) > page.find('\n', links + 1))
    links = page.find("\n[", links + 1);
  const std::size_t end = std::min(page.find("\n## ", begin + 1), links);
  return page.substr(0, begin) + (end == std::string::npos ? "\n" : page.substr(end));
}

// A record, in its list of this name, of the stages that are left.
std::string record_without(const std::set<std::string>& missing, const std::string& text, const char* list) {
  nlohmann::ordered_json document = nlohmann::ordered_json::parse(text);
  nlohmann::ordered_json& records = document.at(list);
  records.erase(std::remove_if(records.begin(), records.end(),
                               [&](const auto& one) { return missing.count(one.at("stage")) > 0; }),
                records.end());
  return document.dump() + "\n";
}

// The text of a file of a stage that has an exercise, which a student is asked or not; nothing if the edition
// lacks the file.
std::optional<std::string> edited_file(const fs::path& from, const std::string& stage, bool is_asked) {
  const std::string name = from.filename();
  if (name == "claims.json") return std::nullopt;  // what the counters are
  const std::string text = read_text(from);
  if (name == "stage.cu") return cut_source(text, *find_exercise(stage));
  if (name == "README.md") return edited_page(text, stage) + (is_asked ? where_to_write(stage) : "");
  if (name != "exercises.json") return text;
  return edited_exercises(text, *find_exercise(stage), read_text(from.parent_path() / "stage.cu"));
}

// A table or a picture between two comments is kept as it is: what makes it needs the stages of the whole
// lab.
std::string page_without_generators(const std::string& page) {
  std::string text;
  for (const std::string& line : lines_of(page)) {
    const bool ends = line.rfind("<!-- /", 0) == 0;
    const bool begins = !ends && line.rfind("<!-- ", 0) == 0;
    text += (ends ? "<!-- /kept -->" : begins ? "<!-- kept: of the whole lab -->" : line) + "\n";
  }
  return text;
}

std::vector<track_description> tracks_of(const std::set<std::string>& stages) {
  std::vector<track_description> tracks;
  for (const std::string& path : stages) {
    const std::string track = path.substr(0, path.find('/'));
    if (tracks.empty() || tracks.back().name != track) tracks.emplace_back().name = track;
    tracks.back().stages.emplace_back().path = path;
  }
  return tracks;
}

// What an edition has of the stages of the whole lab.
struct edition_stages {
  std::vector<track_description> tracks;  // with all stages
  std::set<std::string> exercises;        // which students write
  std::set<std::string> missing;          // which hold a solution of another
};

bool is_command(const std::string& code) {
  return is_match(code, R"((.* )?(\./)?lab [a-z].*)");
}

// Those of `wanted` that a command names by paths, or a code that is a stage's path.
std::set<std::string> named_in(const std::string& code, const std::vector<track_description>& tracks,
                               const std::set<std::string>& wanted) {
  std::set<std::string> names;
  for (const std::string& word : all_matches(code, R"(([^\s']+))")) {
    if (word.find('/') == std::string::npos || (word != code && !is_command(code))) continue;
    try {
      for (const track_selection& found : select_stages(tracks, {word})) {
        for (const stage_description* stage : found.stages) {
          if (wanted.count(stage->path) > 0) names.insert(stage->path);
        }
      }
    } catch (const usage_error&) {  // an option, or its value
    }
  }
  return names;
}

// Calls `look` with each line of a page, and whether it is one of a block of code.
template <class Look>
void for_lines_of(const std::string& page, Look look) {
  bool is_block = false;
  for (const std::string& line : lines_of(page)) {
    const bool is_fence = line.rfind("```", 0) == 0;
    look(line, is_block && !is_fence);
    is_block ^= is_fence;
  }
}

// Whether the page has a command on a stage that students write, other than the two that are for writing it.
bool runs_exercises(const std::string& page, const edition_stages& stages) {
  bool found = false;
  for_lines_of(page, [&](const std::string& line, bool is_block) {
    const auto codes = is_block ? std::vector{line} : all_matches(line, "`([^`]+)`");
    for (const std::string& code : codes) {
      if (is_command(code) && !is_match(code, ".*lab (new|check|grade) .*"))
        found |= !named_in(code, stages.tracks, stages.exercises).empty();
    }
  });
  return found;
}

// Behind a command or a name, which of its stages the edition lacks altogether.
std::string page_with_missing_stages(const std::string& page, const edition_stages& stages) {
  std::string text;
  for_lines_of(page, [&](const std::string& line, bool is_block) {
    std::size_t done = 0;
    for (std::size_t begin = line.find('`'); !is_block && begin != std::string::npos;
         begin = line.find('`', done)) {
      const std::size_t end = line.find('`', begin + 1);
      if (end == std::string::npos) break;
      text += line.substr(done, end + 1 - done);
      done = end + 1;
      const std::string code = line.substr(begin + 1, end - begin - 1);
      const std::set<std::string> missing = named_in(code, stages.tracks, stages.missing);
      if (missing.empty()) continue;
      std::vector<std::string> names;
      for (const fs::path stage : missing) names.push_back(stage.filename());
      const bool is_told = names.size() == 1 && code.find(*missing.begin()) != std::string::npos;
      text += is_told ? " (not in this edition)"
                      : fmt::format(" ({} {} not in this edition)", fmt::join(names, ", "),
                                    names.size() == 1 ? "is" : "are");
    }
    text += line.substr(done) + "\n";
  });
  return text;
}

// A link to a source that students complete leads to what they have of it.
std::string page_with_exercises(std::string page, const fs::path& directory, const fs::path& folder) {
  for (const std::string& link : all_matches(page, R"((\[[^\[\]]*\]\([^()#]*stage\.cu\)))")) {
    const std::size_t middle = link.find("](");
    const fs::path file = directory / link.substr(middle + 2, link.size() - middle - 3);
    if (!fs::exists(folder / file.parent_path() / "exercise.cu")) continue;
    page.replace(page.find(link), link.size(), replaced(link, R"(stage\.cu)", "exercise.cu"));
  }
  return page;
}

// A link or an image whose file the edition lacks becomes its text.
std::string page_without_dead_links(std::string page, const fs::path& directory, const fs::path& folder) {
  for (std::size_t middle = page.find("]("); middle != std::string::npos;
       middle = page.find("](", middle + 1)) {
    const std::size_t end = page.find(')', middle);
    const std::string target = page.substr(middle + 2, page.find_first_of("#)", middle) - middle - 2);
    const fs::path file = (directory / target).lexically_normal();
    if (end == std::string::npos || fs::exists(folder / file) || !fs::exists(source_root / file)) continue;
    std::size_t begin = middle;
    for (int depth = 1; depth > 0 && begin > 0;) {
      --begin;
      depth += page[begin] == ']' ? 1 : page[begin] == '[' ? -1 : 0;
    }
    page.erase(middle, end + 1 - middle);
    const bool is_image = begin > 0 && page[begin - 1] == '!';
    page.erase(begin - (is_image ? 1 : 0), is_image ? 2 : 1);
    middle = begin;
  }
  return page;
}

// A picture without the line of the source that it shows.
std::string picture_without_source(const std::string& picture) {
  return replaced(picture, R"(<text class="code"[^\n]*\n)", "");
}

// What depends on which files the edition has.
void edit_pages(const fs::path& folder, const edition_stages& stages) {
  // All of them first: a file that is written is a new one in its directory.
  const std::vector<fs::path> files(fs::recursive_directory_iterator{folder}, {});
  for (const fs::path& file : files) {
    const fs::path path = file.lexically_relative(folder);
    if (path.extension() == ".md") {
      const fs::path directory = path.parent_path();
      std::string page = page_with_missing_stages(page_without_generators(read_text(file)), stages);
      if (path == "README.md") {
        page.insert(page.find('\n') + 1, std::string("\n") + note);
      } else if (stages.exercises.count(stage_of(path)) == 0 && runs_exercises(page, stages)) {
        const fs::path how = fs::path("docs/exercises.md").lexically_relative(directory);
        page.insert(page.find('\n') + 1,
                    "\n" + fmt::format(note_of_page, how.string() + "#a-student-edition"));
      }
      write_file(file,
                 page_without_dead_links(page_with_exercises(page, directory, folder), directory, folder));
    } else if (path.parent_path() == "docs/pictures" && path.extension() == ".svg") {
      write_file(file, picture_without_source(read_text(file)));
    }
  }
}

void copy_edition(const fs::path& folder, const std::vector<std::string>& files,
                  const std::set<std::string>& cut, const std::set<std::string>& with_solutions) {
  std::set<std::string> missing = cut;
  missing.insert(with_solutions.begin(), with_solutions.end());
  for (const std::string& file : files) {
    const fs::path from = fs::path(source_root) / file;
    const fs::path path(file);
    const std::string stage = stage_of(path);
    if (is_left_out(file) || !fs::exists(from)) continue;
    if (with_solutions.count(stage) > 0 &&
        (path.filename() == "stage.cu" || path.filename() == "exercises.json"))
      continue;
    fs::create_directories(folder / path.parent_path());
    if (cut.count(stage) > 0) {
      const fs::path to = path.filename() == "stage.cu" ? path.parent_path() / "exercise.cu" : path;
      if (const auto text = edited_file(from, stage, with_solutions.count(stage) == 0))
        write_file(folder / to, *text);
    } else if (path.parent_path() == "reports/proofs") {
      write_file(folder / path, record_without(missing, read_text(from), "proofs"));
    } else if (path.filename() == "README.md" && path.parent_path().parent_path() == "stages") {
      write_file(folder / path, page_without_counts(read_text(from)));
    } else if (path == "reports/claims.json") {
      write_file(folder / path, record_without(cut, read_text(from), "figures"));
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
  const std::set<std::string> stages = stages_in(files);
  const std::set<std::string> cut = stages_to_cut(stages);
  const std::set<std::string> with_solutions = stages_with_solutions(stages, cut);
  try {
    copy_edition(folder, files, cut, with_solutions);
    edition_stages contents{.tracks = tracks_of(stages), .exercises = cut, .missing = with_solutions};
    for (const std::string& stage : with_solutions) contents.exercises.erase(stage);
    edit_pages(folder, contents);
  } catch (const std::exception& failure) {
    fs::remove_all(folder, error);
    throw environment_error(fmt::format("{} cannot be made: {}", folder.string(), failure.what()));
  }
  const auto exercises = std::count_if(cut.begin(), cut.end(),
                                       [&](const auto& stage) { return with_solutions.count(stage) == 0; });
  std::printf("wrote %s: %td stages are exercises\n", folder.c_str(), exercises);
  if (!with_solutions.empty())
    std::printf("without stages that hold a solution: %s\n",
                fmt::format("{}", fmt::join(with_solutions, ", ")).c_str());
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
