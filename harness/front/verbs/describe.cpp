#include <cstdio>
#include <memory>

#include "harness/front/command_line/options.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/verbs/verbs.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {
namespace {

struct describe_options {
  std::vector<std::string> patterns;
  std::string device;
  std::string json_path;
};

int describe_stages(const describe_options& options) {
  check_files({}, {{"--json", options.json_path}});
  const connection connected = connect(options.device, select_by(options.patterns), false);
  worker_description selected = connected.description;
  selected.tracks.clear();
  for (const auto& selection : select_stages(connected.description.tracks, options.patterns)) {
    track_description track = *selection.track;
    track.stages.clear();
    for (const auto* stage : selection.stages) track.stages.push_back(*stage);
    selected.tracks.push_back(std::move(track));
  }
  nlohmann::json document = selected;
  document["schema"] = "kernel-lab-description";
  document["version"] = 1;
  if (options.json_path.empty()) {
    std::fputs(json_text(document).c_str(), stdout);
  } else {
    write_file(options.json_path, json_text(document));
  }
  return exit_ok;
}

}  // namespace

verb describe_verb(CLI::App& program) {
  const auto options = std::make_shared<describe_options>();
  CLI::App* app =
      program.add_subcommand("describe", "what workers say of their device, tracks and stages, as JSON");
  app->group("");
  add_patterns(*app, options->patterns);
  add_device(*app, options->device);
  add_json(*app, options->json_path);
  return {.app = app,
          .perform = [options] { return describe_stages(*options); },
          .needs =
              [options] {
                return build_request{options->device, select_by(options->patterns)};
              }};
}

}  // namespace lab::front
