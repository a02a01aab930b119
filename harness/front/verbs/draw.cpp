#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include "harness/accesses.hpp"
#include "harness/front/command_line/options.hpp"
#include "harness/front/draw/block_picture.hpp"
#include "harness/front/draw/png_picture.hpp"
#include "harness/front/draw/warp_picture.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/terminal.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/run/session.hpp"
#include "harness/front/verbs/verbs.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {
namespace {

// Which access of a stage is drawn; without a choice, the one that costs the most more than its minimum.
struct draw_options {
  std::string stage;
  std::vector<parameter_argument> parameters;
  std::vector<std::string> option_names;
  std::string line;                          // of the stage's source, or FILE:LINE
  std::string kernel;                        // a part of its name
  std::string memory;                        // "global", "shared"
  bool block = false;                        // the phases of a whole block instead of one access
  std::optional<std::int64_t> block_number;  // 0 by default
  std::optional<std::int64_t> warp;
  std::optional<std::int64_t> request;  // from 1
  std::string output;                   // empty: named as the stage and what is chosen, here
  std::uint64_t seed = 1;
  std::optional<double> timeout_seconds;
  std::string json_path;
};

// Most stages take less than a second, and the largest sizes minutes.
constexpr double draw_timeout_seconds = 600;

// "44", or "tile_scan.hpp:57".
void choose_line(const std::string& text, const std::string& stage, access_choice& choice) {
  if (text.empty()) return;
  const std::size_t colon = text.rfind(':');
  choice.file = colon == std::string::npos ? "stages/" + stage + "/stage.cu" : text.substr(0, colon);
  choice.line = parse_integer(colon == std::string::npos ? text : text.substr(colon + 1), "--line");
  if (choice.line < 1) throw usage_error("--line: lines count from 1");
  if (choice.file.empty())
    throw usage_error(fmt::format("--line needs a line, or FILE:LINE, not '{}'", text));
}

access_choice choice_of(const draw_options& options, const std::string& stage) {
  access_choice choice{.kernel = options.kernel, .space = options.memory, .phases = options.block};
  if (!choice.space.empty() && choice.space != "global" && choice.space != "shared")
    throw usage_error(fmt::format("--memory must be global or shared, not '{}'", choice.space));
  const bool one_access = !options.line.empty() || options.warp || options.request || !options.memory.empty();
  if (options.block && one_access)
    throw usage_error(
        "--block draws a whole block: --line, --warp, --request and --memory choose one access");
  choose_line(options.line, stage, choice);
  choice.block = options.block_number.value_or(0);
  choice.warp = options.warp.value_or(-1);
  choice.request = options.request.value_or(-1);
  if (options.request && choice.request < 1) throw usage_error("--request: accesses count from 1");
  return choice;
}

// "stages/.../stage.cu: 26, 42, 44"
std::string lines_text(const accesses_record& accesses) {
  std::map<std::string, std::set<std::int64_t>> lines;
  for (const auto& one : accesses.lines) lines[one.file].insert(one.line);
  std::vector<std::string> files;
  for (const auto& [file, numbers] : lines)
    files.push_back(fmt::format("{}: {}", file, fmt::join(numbers, ", ")));
  return fmt::format("{}", fmt::join(files, "; "));
}

// Why there is nothing to draw.
usage_error nothing_to_draw(const std::string& stage, const access_choice& choice,
                            const accesses_record& accesses) {
  if (accesses.kernels.empty())
    return usage_error(
        fmt::format("{}: no kernel that it launches has a block {} (--block-number)", stage, choice.block));
  if (accesses.kernel.empty())
    return usage_error(fmt::format("{}: no kernel with a block {} is called '{}' (--kernel); there is {}",
                                   stage, choice.block, choice.kernel, fmt::join(accesses.kernels, ", ")));
  if (accesses.lines.empty())
    return usage_error(
        fmt::format("{}: block {} asks nothing of memory (--block-number)", stage, choice.block));
  std::string what = fmt::format("block {}", choice.block);
  if (choice.warp >= 0) what = fmt::format("warp {} of {}", choice.warp, what);
  const std::string kind = choice.space.empty() ? "memory" : choice.space + " memory";
  if (choice.line > 0) {
    const bool reaches = std::any_of(accesses.lines.begin(), accesses.lines.end(), [&](const auto& one) {
      return one.line == choice.line && one.file.ends_with(choice.file) &&
             (choice.space.empty() || one.space == choice.space);
    });
    if (reaches && choice.request > 0)
      return usage_error(fmt::format("{}: {} makes fewer than {} accesses at {}:{}, or more than are kept",
                                     stage, what, choice.request, choice.file, choice.line));
    what += fmt::format(" asks nothing of {} at {}:{}", kind, choice.file, choice.line);
  } else {
    what += fmt::format(" asks nothing of {}", kind);
    if (choice.request > 0) what += fmt::format(" {} times", choice.request);
  }
  return usage_error(fmt::format("{}: {}; the block does at {}", stage, what, lines_text(accesses)));
}

struct sight {
  accesses_record accesses;
  std::string failure;           // of a stage that should be right
  std::string expected_failure;  // of one that is wrong on purpose
};

sight see(const draw_options& options, const worker_set& observed, const stage_description& stage,
          const parameter_values& parameters, const access_choice& choice) {
  status_line status;
  status.show(fmt::format("{}: observing", stage.path));
  const answer_record answer =
      observed.request({{"op", "accesses"},
                        {"stage", stage.path},
                        {"parameters", parameters},
                        {"seed", options.seed},
                        {"choice", choice}},
                       time_limits::seconds(options.timeout_seconds.value_or(draw_timeout_seconds)));
  if (answer.end == answer_end::error)
    throw environment_error(fmt::format("{}: {}", stage.path, answer_text(answer)));
  sight seen{.accesses = member_or(answer.content, "accesses", accesses_record{})};
  if (answer.end == answer_end::failed) seen.failure = answer_text(answer);
  seen.expected_failure = expected_failure_in(answer);
  return seen;
}

// In the current directory, where nobody says where: the stage and what was chosen.
std::string output_path(const draw_options& options, const std::string& stage) {
  if (!options.output.empty()) return options.output;
  std::vector<parameter_argument> choices = options.parameters;
  const auto choose = [&](const char* name, const std::string& text) {
    if (!text.empty()) choices.push_back({name, text});
  };
  const auto choose_number = [&](const char* name, const std::optional<std::int64_t>& number) {
    if (number) choices.push_back({name, std::to_string(*number)});
  };
  if (options.seed != draw_options{}.seed) choose("seed", std::to_string(options.seed));
  choose("kernel", options.kernel);
  choose("line", options.line);
  choose("memory", options.memory);
  if (options.block) choices.push_back({"block", ""});
  choose_number("block-number", options.block_number);
  choose_number("warp", options.warp);
  choose_number("request", options.request);
  return stem_of_call(stage, choices) + ".svg";
}

int draw_stage(const draw_options& options) {
  check_files({}, {{"--output", options.output}, {"--json", options.json_path}});
  const connection connected = connect("emulator", select_one(options.stage));
  const auto [track, stage] = select_one_stage(connected.description.tracks, options.stage);
  check_parameters({{track, {stage}}}, options.parameters, options.option_names);
  const access_choice choice = choice_of(options, stage->path);
  const std::string output = output_path(options, stage->path);
  const std::string program = output.ends_with(".png") ? svg_program() : "";
  check_files({}, {{"--output", output}, {"--json", options.json_path}});
  if (!stage->broken.empty()) {
    std::printf("%s: FAIL: %s\n", stage->path.c_str(), stage->broken.c_str());
    return exit_stage_failed;
  }
  if (!stage->runnable)
    throw environment_error(fmt::format("{} cannot be drawn here: {}", stage->path, stage->why_not));
  const worker_set observed(backend::observed);
  if (!observed.problem().empty()) throw environment_error(observed.problem());

  const parameter_values parameters = completed_parameters(*track, options.parameters, default_set::verify);
  const sight seen = see(options, observed, *stage, parameters, choice);
  const accesses_record& accesses = seen.accesses;
  if (!seen.failure.empty()) {
    std::printf("%s: FAIL: %s\n", stage->path.c_str(), seen.failure.c_str());
    return exit_stage_failed;
  }
  if (choice.phases ? accesses.lines.empty() : accesses.request.empty())
    throw nothing_to_draw(stage->path, choice, accesses);

  const picture_heading heading{stage->path, parameters_text(*track, parameters)};
  std::printf("%s: %s\n", stage->path.c_str(), heading.parameters.c_str());
  if (!seen.expected_failure.empty())
    std::printf("an expected failure, fails as expected: %s\n", seen.expected_failure.c_str());
  std::string picture;
  if (choice.phases) {
    picture = block_picture(heading, accesses);
    std::printf("%s\n", block_text(accesses).c_str());
  } else {
    const request_record& request = accesses.request.front();
    picture = warp_picture(heading, accesses, request);
    std::printf("%s:%lld: %s\n%s\n%s\n", request.at.file.c_str(), static_cast<long long>(request.at.line),
                request.at.text.c_str(), request_text(accesses, request).c_str(), cost_text(request).c_str());
  }
  write_file(output, program.empty() ? picture : png_of(picture, program));
  std::printf("wrote %s\n", output.c_str());
  if (!options.json_path.empty()) {
    nlohmann::json document{{"schema", "kernel-lab-draw"}, {"version", 1},         {"stage", stage->path},
                            {"parameters", parameters},    {"seed", options.seed}, {"modelled", true}};
    document.update(nlohmann::json(accesses));
    write_file(options.json_path, json_text(document));
  }
  return exit_ok;
}

}  // namespace

verb draw_verb(CLI::App& program) {
  const auto options = std::make_shared<draw_options>();
  CLI::App* app = add_verb(program, "draw");
  add_stage(*app, options->stage);
  app->add_option("--line", options->line,
                  "of the stage's source, or FILE:LINE (default: where most is moved in vain or serialised)")
      ->type_name("LINE");
  app->add_option("--memory", options->memory, "global or shared (default: either)")->type_name("KIND");
  app->add_option("--kernel", options->kernel, "a part of the kernel's name (default: any)")
      ->type_name("NAME");
  app->add_flag("--block", options->block, "draw the block's phases between barriers instead of one access");
  add_number(*app, "--block-number", options->block_number, "which block (default: 0)");
  add_number(*app, "--warp", options->warp, "which of the block's warps (default: the dearest)");
  add_number(*app, "--request", options->request,
             "which of the warp's accesses at the line, from 1 (default: the dearest)");
  app->add_option("--output", options->output,
                  "the picture, .svg or .png (default: named as the stage and the options, here)")
      ->type_name("FILE");
  add_seed(*app, options->seed);
  add_timeout(*app, options->timeout_seconds);
  add_json(*app, options->json_path);
  app->footer(parameter_help);
  return {.app = app,
          .perform = [options] { return draw_stage(*options); },
          .needs =
              [options] {
                return build_request{
                    .device = "emulator", .select = select_one(options->stage), .counts = true};
              },
          .parameters = &options->parameters,
          .option_names = &options->option_names};
}

}  // namespace lab::front
