#include "harness/front/ladder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness/front/format.hpp"

namespace lab {
namespace {

constexpr const char* absent = "-";

enum class colour { none, red, green, yellow, dim };

std::string coloured(const std::string& text, colour shade, ladder_style style) {
  if (!style.colour || shade == colour::none) return text;
  constexpr int codes[] = {0, 31, 32, 33, 2};
  return fmt::format("\033[{}m{}\033[0m", codes[static_cast<int>(shade)], text);
}

// A row of cells, or an explanation across all columns.
struct table_line {
  std::vector<std::string> cells;
  std::string remark;
  colour shade = colour::none;
};

struct column {
  std::string heading;
  bool is_number = true;
};

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? humanised_ratio(*ratio) : absent;
}
std::string percentage_text(const std::optional<double>& ratio) {
  return ratio ? humanised_percentage(*ratio) : absent;
}

std::string table_text(const std::vector<column>& columns, const std::vector<table_line>& lines,
                       ladder_style style) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = display_width(columns[i].heading);
    for (const auto& line : lines) {
      if (i < line.cells.size()) width = std::max(width, display_width(line.cells[i]));
    }
    widths.push_back(width);
  }
  const auto join = [&](const std::vector<std::string>& cells, colour shade) {
    std::string text = " ";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool last = i + 1 == cells.size();
      std::string cell = columns[i].is_number ? padded_left(cells[i], widths[i])
                         : last               ? cells[i]
                                              : padded_right(cells[i], widths[i]);
      // The second column says whether the stage is right, and alone is coloured.
      text += " " + (i == 1 ? coloured(cell, shade, style) : cell);
      if (!last) text += " ";
    }
    return text + "\n";
  };
  std::vector<std::string> headings;
  for (const auto& one : columns) headings.push_back(one.heading);
  std::string text = join(headings, colour::none);
  for (const auto& line : lines) {
    if (!line.cells.empty()) text += join(line.cells, line.shade);
    if (!line.remark.empty()) text += coloured("      " + line.remark, line.shade, style) + "\n";
  }
  return text;
}

// "02_tree" of "reduction/02_tree"
std::string stage_name(const result_row& row) {
  std::string name = row.stage.substr(row.stage.rfind('/') + 1);
  return row.library ? name + " (library)" : name;
}

std::vector<table_line> row_lines(const result_row& row, bool timed, bool with_light, bool with_library) {
  if (row.status == row_status::skipped) {
    return {{{stage_name(row), "skipped"}, row.message, colour::dim}};
  }
  if (row.status == row_status::failed) {
    return {{{stage_name(row), "FAIL"}, row.message, colour::red}};
  }
  if (row.status == row_status::specimen) {
    return {{{stage_name(row), "specimen"}, "fails as announced: " + row.message, colour::yellow}};
  }
  table_line line{{stage_name(row), "✓"}, "", colour::green};
  if (!timed) {
    if (row.verification) {
      line.cells.push_back(fmt::format("{}", row.verification->cases));
      line.cells.push_back(fmt::format("{}", row.verification->compared));
      line.cells.push_back(humanised_percentage(row.verification->largest_error));
    }
    return {line};
  }
  if (!row.timing) return {line};
  line.cells.push_back(humanised_time(row.timing->median));
  line.cells.push_back(
      fmt::format("{:.2f} %{}", row.timing->spread * 100, row.timing->unstable ? " unstable" : ""));
  line.cells.push_back(ratio_text(row.over_previous));
  line.cells.push_back(ratio_text(row.over_first));
  if (with_light) line.cells.push_back(percentage_text(row.speed_of_light));
  if (with_library) line.cells.push_back(percentage_text(row.over_library));
  return {line};
}

std::string group_heading(const run_results& results, const result_group& group) {
  std::string text = group.track;
  if (!group.title.empty()) text += ": " + group.title;
  std::vector<std::string> facts;
  for (const auto& [name, value] : group.parameters) {
    const auto word = group.choice_names.find(name);
    const bool named = word != group.choice_names.end();
    facts.push_back(fmt::format("{} = {}", name, named ? word->second : std::to_string(value)));
  }
  if (group.l2 != cache_state::none) facts.push_back("L2 " + to_string(group.l2));
  if (!facts.empty()) text += fmt::format("\n  {}", fmt::join(facts, ", "));
  text += "\n";
  if (const auto* ceiling = speed_of_light(group)) {
    const auto bytes = static_cast<double>(ceiling->bytes);
    const std::string time = humanised_time(ceiling->timing.median);
    if (ceiling->cached) {
      text += fmt::format(
          "  a {} of {} takes {}; so little stays in the L2 cache, which has no speed of light here\n",
          ceiling->kind, humanised_bytes(bytes), time);
    } else {
      text += fmt::format("  speed of light: {} of {} in {} ({})\n", ceiling->kind, humanised_bytes(bytes),
                          time, humanised_bandwidth(bytes, ceiling->timing.median));
    }
  } else if (!group.ceiling_problem.empty()) {
    text += fmt::format("  speed of light: not measured: {}\n", group.ceiling_problem);
  }
  if (results.verb != "verify" && results.device && is_emulator(*results.device)) {
    text += "  times are this host's, not a GPU's\n";
  }
  return text;
}

}  // namespace

std::string header_text(const run_results& results) {
  std::string text;
  if (results.device) {
    const device_record& device = *results.device;
    text += fmt::format("device   {}: {}", device.id, device.name);
    if (!device.compute_capability.empty())
      text += fmt::format(", compute capability {}", device.compute_capability);
    if (device.multiprocessors) text += fmt::format(", {} SMs", *device.multiprocessors);
    if (device.memory_bytes) text += ", " + humanised_bytes(static_cast<double>(*device.memory_bytes));
    text += "\n";
    if (!device.driver.empty()) text += fmt::format("driver   {}\n", device.driver);
    if (!device.toolkit.empty()) text += fmt::format("toolkit  {}\n", device.toolkit);
  }
  if (results.floor) {
    text += fmt::format("floor    {} for an empty kernel\n", humanised_time(results.floor->median));
  }
  text += fmt::format("seed     {}\n", results.seed);
  return text;
}

std::string ladder_text(const run_results& results, const result_group& group, ladder_style style) {
  const bool timed = results.verb != "verify";
  const bool with_light = !results.device || !is_emulator(*results.device);
  const bool with_library = std::any_of(group.rows.begin(), group.rows.end(),
                                        [](const auto& row) { return row.over_library.has_value(); });
  std::vector<column> columns{{"stage", false}, {"verified", false}};
  if (timed) {
    for (const char* heading : {"median", "spread", "x previous", "x first"}) columns.push_back({heading});
    if (with_light) columns.push_back({"% of speed of light"});
    if (with_library) columns.push_back({"% of library"});
  } else {
    for (const char* heading : {"cases", "compared", "largest error / bound"}) columns.push_back({heading});
  }
  std::vector<table_line> lines;
  for (const auto& row : group.rows) {
    for (auto& line : row_lines(row, timed, with_light, with_library)) lines.push_back(std::move(line));
  }
  return group_heading(results, group) + table_text(columns, lines, style);
}

std::string summary_text(const run_results& results) {
  const row_counts counts = count_rows(results);
  std::string text = fmt::format("{} ok, {} failed, {} skipped", counts.ok, counts.failed, counts.skipped);
  if (counts.specimens > 0) {
    text += fmt::format(", {} specimen{} as announced", counts.specimens, counts.specimens == 1 ? "" : "s");
  }
  if (counts.ok == 0 && counts.failed == 0 && counts.specimens == 0) text += ": nothing ran";
  return text + "\n";
}

}  // namespace lab
