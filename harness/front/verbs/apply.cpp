#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/utf8.hpp"
#include "harness/front/command_line/options.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/run/ladder.hpp"
#include "harness/front/verbs/verbs.hpp"
#include "harness/front/workers/devices.hpp"
#include "harness/front/workers/source_digests.hpp"

namespace lab::front {
namespace {

struct apply_options {
  std::string stage;
  std::string device;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<parameter_argument> parameters;
  std::vector<std::string> option_names;
  std::optional<double> timeout_seconds;
  std::string json_path;
  bool allow_inexact = false;
};

// The data is a person's own, and may be large.
constexpr double apply_timeout_seconds = 600;

// Each path with the option that named it.
std::vector<named_file> named(const char* option, const std::vector<std::string>& paths) {
  std::vector<named_file> files;
  for (const auto& path : paths) files.push_back({option, path});
  return files;
}

std::vector<std::string> paths_for_worker(const std::vector<std::string>& paths) {
  std::vector<std::string> absolute;
  for (const auto& path : paths) absolute.push_back(path_for_worker(path));
  return absolute;
}

// The stage that is applied, and to what.
struct application {
  stage_selection selected;
  parameter_values parameters;
  std::vector<std::string> inputs;  // absolute, as the worker is told of them
  std::vector<std::string> outputs;
  std::map<std::string, std::string> texts;  // of files, their absolute names
};

// Moves the arguments that are texts of the track to `texts`: all of a text's name but words that a parameter
// of the same name may be.
std::map<std::string, std::string> take_texts(const track_description& track, const apply_options& options,
                                              std::vector<parameter_argument>& arguments) {
  std::map<std::string, std::string> texts;
  std::vector<parameter_argument> others;
  std::vector<named_file> read;
  for (const auto& argument : arguments) {
    const auto is_named = [&](const auto& one) { return one.name == argument.name; };
    const auto text = std::find_if(track.texts.begin(), track.texts.end(), is_named);
    const auto word = std::find_if(track.parameters.begin(), track.parameters.end(), is_named);
    const bool is_word =
        word != track.parameters.end() && std::find(word->choices.begin(), word->choices.end(),
                                                    parameter_value(argument.text)) != word->choices.end();
    if (text == track.texts.end() || is_word) {
      others.push_back(argument);
      continue;
    }
    if (texts.contains(argument.name)) throw usage_error(fmt::format("--{} is given twice", argument.name));
    if (argument.text.empty()) throw usage_error(fmt::format("--{} needs a value", argument.name));
    if (first_invalid_utf8(argument.text)) throw usage_error(fmt::format("--{} is not UTF-8", argument.name));
    texts[argument.name] = text->is_file ? path_for_worker(argument.text) : argument.text;
    if (text->is_file) read.push_back({"--" + argument.name, argument.text});
  }
  auto written = named("--output", options.outputs);
  written.push_back({"--json", options.json_path});
  if (!read.empty()) check_files(read, written);
  arguments = std::move(others);
  return texts;
}

answer_record ask_worker(const apply_options& options, connection& connected, const application& asked) {
  const std::string& stage = asked.selected.stage->path;
  status_line status;
  connected.workers.set_output_sink([&](const std::string& line) { status.print(line); });
  status.show(stage);
  const answer_record answer = connected.workers.request(
      {{"op", "apply"},
       {"stage", stage},
       {"parameters", asked.parameters},
       {"inputs", asked.inputs},
       {"outputs", asked.outputs},
       {"texts", asked.texts},
       {"allow_inexact", options.allow_inexact}},
      time_limits::seconds(options.timeout_seconds.value_or(apply_timeout_seconds)),
      [&](const std::string& progress) { status.show(fmt::format("{}: {}", stage, progress)); });
  status.clear();
  if (answer.end == answer_end::error) {
    std::string text = fmt::format("{}: {}", stage, answer_text(answer));
    if (const auto log = member_or<std::string>(answer.content, "log", ""); !log.empty()) text += "\n" + log;
    if (answer.error == error_kind::usage) throw usage_error(text);
    throw environment_error(text);
  }
  return answer;
}

// Says what became of the stage, and returns the exit code.
int tell(const result_row& row, const std::vector<std::string>& outputs) {
  if (row.status != row_status::ok && row.status != row_status::expected_failure) {
    std::printf("%s: FAIL: %s\n", row.stage.c_str(), row.message.c_str());
    return exit_stage_failed;
  }
  if (row.status == row_status::expected_failure) {
    std::printf("%s is an expected failure, and its result is wrong (%s)\n", row.stage.c_str(),
                row.message.c_str());
  }
  for (const auto& path : outputs) std::printf("%s: wrote %s\n", row.stage.c_str(), path.c_str());
  return exit_ok;
}

int apply_stage(const apply_options& options) {
  auto written = named("--output", options.outputs);
  written.push_back({"--json", options.json_path});
  check_files(named("--input", options.inputs), written);
  application asked{.inputs = paths_for_worker(options.inputs), .outputs = paths_for_worker(options.outputs)};

  connection connected = connect(options.device, select_one(options.stage));
  asked.selected = select_one_stage(connected.description.tracks, options.stage);
  const auto& [track, stage] = asked.selected;
  if (track->inputs > 0 && asked.inputs.empty())
    throw usage_error(fmt::format("--input is required: {} works on data", stage->path));
  std::vector<parameter_argument> arguments = options.parameters;
  asked.texts = take_texts(*track, options, arguments);
  check_parameters({{track, {stage}}}, arguments, options.option_names);
  asked.parameters = given_parameters(*track, arguments);
  if (!connected.note.empty()) std::printf("%s\n", connected.note.c_str());
  if (!stage->broken.empty()) {
    std::printf("%s: FAIL: %s\n", stage->path.c_str(), stage->broken.c_str());
    return exit_stage_failed;
  }
  if (!stage->runnable)
    throw environment_error(fmt::format("{} does not run here: {}", stage->path, stage->why_not));

  const answer_record answer = ask_worker(options, connected, asked);
  const auto remark = member_or<std::string>(answer.content, "remark", "");
  if (!remark.empty()) std::printf("%s: %s\n", stage->path.c_str(), remark.c_str());
  result_row row = row_from(*stage, answer, false);
  row.sources = digest_of(read_source_digests(), row.stage);
  if (!options.json_path.empty()) {
    write_file(options.json_path, json_text({{"schema", "kernel-lab-apply"},
                                             {"version", 1},
                                             {"device", value_or_null(connected.description.device)},
                                             {"parameters", asked.parameters},
                                             {"inputs", asked.inputs},
                                             {"outputs", asked.outputs},
                                             {"texts", asked.texts},
                                             {"remark", remark},
                                             {"row", row}}));
  }
  return tell(row, options.outputs);
}

}  // namespace

verb apply_verb(CLI::App& program) {
  const auto options = std::make_shared<apply_options>();
  CLI::App* app = add_verb(program, "apply");
  add_stage(*app, options->stage);
  add_device(*app, options->device);
  add_timeout(*app, options->timeout_seconds);
  add_json(*app, options->json_path);
  add_names(*app, "--input", options->inputs,
            "the data, .npy or .csv; several with commas between; none for a track that takes none")
      ->type_name("FILE[,FILE]");
  add_names(*app, "--output", options->outputs, "where the result goes; several with commas between")
      ->type_name("FILE[,FILE]")
      ->required();
  app->add_flag("--allow-inexact", options->allow_inexact,
                "write results even where the stage's traits make some of them useless");
  app->footer(
      "Tracks of numbers take and write .npy arrays, tracks of text CSV files (RFC 4180, UTF-8) whose "
      "header\n"
      "names the columns that the track's page lists. The result is checked against the reference first; a\n"
      "file is written whole or not at all.");
  return {.app = app,
          .perform = [options] { return apply_stage(*options); },
          .needs =
              [options] {
                return build_request{options->device, select_one(options->stage)};
              },
          .parameters = &options->parameters,
          .option_names = &options->option_names};
}

}  // namespace lab::front
