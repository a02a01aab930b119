#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "harness/front/output/file_output.hpp"
#include "harness/front/output/table.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/selection/patterns.hpp"
#include "harness/front/verbs/verbs.hpp"
#include "harness/front/workers/devices.hpp"

namespace lab::front {
namespace {

std::string values_text(const std::vector<parameter_value>& values, const char* between) {
  std::string text;
  for (const parameter_value& value : values) text += (text.empty() ? "" : between) + value.text();
  return text;
}

// What the parameter may be, where that is a list: "; sum, minimum, maximum".
std::string choices_text(const parameter_description& parameter) {
  return parameter.choices.empty() ? "" : "; " + values_text(parameter.choices, ", ");
}

std::string track_text(const track_selection& selection) {
  std::string text = fmt::format("{}: {}\n", selection.track->name, selection.track->title);
  for (const auto& parameter : selection.track->parameters) {
    text += fmt::format("  --{}  {} (default {}{})\n", parameter.name, parameter.meaning,
                        values_text(parameter.bench_defaults, ","), choices_text(parameter));
  }
  for (const auto& one : selection.track->texts)
    text += fmt::format("  --{}  of apply: {}\n", one.name, one.meaning);
  table_rows rows;
  for (const auto* stage : selection.stages) {
    rows.push_back({stage->path, stage->idea + (stage->library ? " (library)" : "")});
    const auto note = [&rows](const std::string& of_stage) { rows.push_back({"", "  " + of_stage}); };
    if (!stage->expected_failure.empty())
      note("expected failure, wrong on purpose: fails with " + stage->expected_failure);
    if (!stage->needs.empty()) note("needs " + stage->needs);
    if (!stage->broken.empty()) note("BROKEN: " + stage->broken);
    if (!stage->runnable) note("not here: " + stage->why_not);
  }
  return text + aligned_text(rows, {alignment::left}, "  ");
}

}  // namespace

int list_stages(const list_options& options) {
  check_files({}, {{"--json", options.json_path}});
  const connection connected = connect(options.device, select_by(options.patterns), false);
  const auto selections = select_stages(connected.description.tracks, options.patterns);
  worker_description selected = connected.description;
  selected.tracks.clear();
  std::string text;
  for (const auto& selection : selections) {
    text += (text.empty() ? "" : "\n") + track_text(selection);
    track_description track = *selection.track;
    track.stages.clear();
    for (const auto* stage : selection.stages) track.stages.push_back(*stage);
    selected.tracks.push_back(std::move(track));
  }
  std::fputs(text.c_str(), stdout);
  if (!selected.device) std::printf("\nno device: %s\n", selected.no_device.c_str());
  if (!connected.note.empty()) std::printf("\n%s\n", connected.note.c_str());
  if (!options.json_path.empty()) {
    nlohmann::json document = selected;
    document["schema"] = "kernel-lab-list";
    document["version"] = 1;
    write_file(options.json_path, json_text(document));
  }
  return exit_ok;
}

}  // namespace lab::front
