#include "harness/front/compare/comparison.hpp"

#include <cstdio>
#include <memory>

#include "common/file.hpp"
#include "common/utf8.hpp"
#include "harness/front/command_line/options.hpp"
#include "harness/front/compare/recorded_run.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/verbs/verbs.hpp"

namespace lab::front {
namespace {

struct compare_options {
  std::string older;  // a result file, or a folder of them
  std::string newer;
  double threshold = 0.01;  // the least difference that is worth a verdict, as a fraction
  bool markdown = false;    // print Markdown instead of a table for a terminal
  std::string json_path;
};

int compare_results(const compare_options& options) {
  if (is_same_file(options.older, options.newer))
    throw usage_error("OLD and NEW are one file or folder: " + escaped(options.older));
  refuse_shared_files({{"OLD", options.older}, {"NEW", options.newer}}, {{"--json", options.json_path}});
  check_files({}, {{"--json", options.json_path}});
  const comparison compared =
      compare_sides(read_side(options.older), read_side(options.newer), options.threshold);
  if (!options.json_path.empty()) write_file(options.json_path, json_text(compared));
  const std::string text = options.markdown ? comparison_markdown(compared) : comparison_text(compared);
  std::fputs(text.c_str(), stdout);
  return has_regression(compared) ? exit_stage_failed : exit_ok;
}

}  // namespace

verb compare_verb(CLI::App& program) {
  const auto options = std::make_shared<compare_options>();
  CLI::App* app = add_verb(program, "compare");
  app->add_option("old", options->older, "result file of lab run --json, or a folder of such files")
      ->type_name("OLD")
      ->required();
  app->add_option("new", options->newer, "the same of what is to be judged")->type_name("NEW")->required();
  add_threshold(*app, options->threshold);
  app->add_flag("--markdown", options->markdown, "print Markdown, for a pull request");
  add_json(*app, options->json_path);
  app->footer(
      "Record both sides with lab run --repeat 5 --json FILE: the medians of processes move more than the\n"
      "samples of one process say. Exit code 1: a row became slower, or fails that was right.");
  return {.app = app, .perform = [options] { return compare_results(*options); }, .needs = nothing_to_build};
}

}  // namespace lab::front
