#include "harness/front/run/ladder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "harness/front/output/format.hpp"
#include "harness/front/output/table.hpp"

namespace lab::front {
namespace {

constexpr const char* absent = "-";
constexpr const char* undecided = "~";  // within the noise of the two timings

enum class colour { none, red, green, yellow, dim };

std::string coloured(const std::string& text, colour shade, ladder_style style) {
  if (!style.colour || shade == colour::none) return text;
  constexpr int codes[] = {0, 31, 32, 33, 2};
  return fmt::format("\033[{}m{}\033[0m", codes[static_cast<int>(shade)], text);
}

// A row of cells, and an explanation across all columns below it.
struct table_line {
  std::vector<std::string> cells;
  std::string remark;
  colour shade = colour::none;
};

struct column {
  std::string heading;
  bool is_number = true;
};

// A ratio of the row's by its name, as it is shown: a factor or a percentage.
std::string ratio_text(const result_row& row, const char* name, const std::optional<double>& ratio,
                       std::string (*shown)(double)) {
  if (ratio) return shown(*ratio);
  const bool is_noise = std::find(row.undecided.begin(), row.undecided.end(), name) != row.undecided.end();
  return is_noise ? undecided : absent;
}

// Two digits, and one where that says the same: "2e-04", "1.5e-04".
std::string bound_text(double bound) {
  const std::string text = fmt::format("{:.1e}", bound);
  const std::size_t zero = text.find(".0e");
  return zero == std::string::npos ? text : text.substr(0, zero) + text.substr(zero + 2);
}

// What a tick does not say: how it was earned, and how far the time can be trusted.
std::string remark_of(const result_row& row, bool timed) {
  std::vector<std::string> facts;
  if (row.verification) {
    const verification_record& record = *row.verification;
    // A window that no block can hold, say, is no news; a tenth of all trials is. 'lab verify' shows every
    // number.
    if (timed && 10 * record.skipped > record.trials)
      facts.push_back(
          fmt::format("{} of {} trials, the others skipped", record.trials - record.skipped, record.trials));
    if (record.declared_bound > 0)
      facts.push_back(
          fmt::format("bound {} of the scale, declared by the stage", bound_text(record.declared_bound)));
    if (record.kept_bytes > 0)
      facts.push_back(
          fmt::format("keeps {} of device memory", humanised_bytes(static_cast<double>(record.kept_bytes))));
  }
  if (row.timing && row.processes.size() > 1)
    facts.push_back(fmt::format("medians of {} processes within {:.2f} %", row.processes.size(),
                                process_range(row) * 100));
  if (row.timing && row.timing->preparation > 0)
    facts.push_back(fmt::format("prepared once, in {}", humanised_time(row.timing->preparation)));
  if (row.timing && row.timing->unstable && row.timing->upper_quartile > 0)
    facts.push_back(fmt::format("unstable: half of the samples lie between {} and {}",
                                humanised_time(row.timing->lower_quartile),
                                humanised_time(row.timing->upper_quartile)));
  return fmt::format("{}", fmt::join(facts, "; "));
}

// "189", or "52 of 189" where the stage did not take all.
std::string trials_text(const verification_record& record) {
  if (record.skipped == 0) return fmt::format("{}", record.trials);
  return fmt::format("{} of {}", record.trials - record.skipped, record.trials);
}

std::string table_text(const std::vector<column>& columns, const std::vector<table_line>& lines,
                       ladder_style style) {
  table_rows rows{{}};
  std::vector<alignment> alignments;
  for (const auto& one : columns) {
    rows.front().push_back(one.heading);
    alignments.push_back(one.is_number ? alignment::right : alignment::left);
  }
  for (const auto& line : lines) rows.push_back(line.cells);
  // The second column says whether the stage is right, and alone is coloured.
  const auto in_colour = [&](std::size_t row, std::size_t column, const std::string& cell) {
    return row > 0 && column == 1 ? coloured(cell, lines[row - 1].shade, style) : cell;
  };
  const auto texts = aligned_lines(rows, alignments, in_colour);
  std::string text = "  " + texts[0] + "\n";
  for (std::size_t line = 0; line < lines.size(); ++line) {
    text += "  " + texts[line + 1] + "\n";
    if (!lines[line].remark.empty())
      text += coloured("      " + lines[line].remark, lines[line].shade, style) + "\n";
  }
  return text;
}

// "02_tree" of "track/02_tree"
std::string stage_name(const result_row& row) {
  std::string name = row.stage.substr(row.stage.rfind('/') + 1);
  return row.library ? name + " (library)" : name;
}

// Four digits, and no zeros behind the point: "2400", "17.57", "8".
std::string figure_text(double figure) {
  return figure >= 1000 ? fmt::format("{:.0f}", figure) : fmt::format("{:.4g}", figure);
}

// What a row's figures are compared with: those of the row before it, libraries aside.
using figures_before = std::optional<stage_figures>;

// "17.57 (0.01x)": a figure, and its ratio to that of the stage before where the two differ.
std::string figure_cell(const std::optional<double>& figure, const figures_before& before,
                        std::size_t which) {
  if (!figure) return absent;
  std::string text = figure_text(*figure);
  constexpr double worth_a_word = 0.01;
  if (before && (*before)[which]) {
    const double ratio = *figure / *(*before)[which];
    if (std::abs(ratio - 1) >= worth_a_word) text += fmt::format(" ({})", humanised_ratio(ratio));
  }
  return text;
}

// The columns that not every ladder has.
struct ladder_columns {
  bool counted = false;
  std::array<bool, figure_columns.size()> figures{};
  bool timed = true;
  bool trials = false;
  bool light = false;
  bool library = false;
};

std::vector<table_line> row_lines(const result_row& row, const ladder_columns& with,
                                  const figures_before& before) {
  if (row.status == row_status::skipped) {
    return {{{stage_name(row), "skipped"}, row.message, colour::dim}};
  }
  if (row.status == row_status::failed) {
    return {{{stage_name(row), "FAIL"}, row.message, colour::red}};
  }
  if (row.status == row_status::expected_failure) {
    return {{{stage_name(row), "expected failure"}, "fails as expected: " + row.message, colour::yellow}};
  }
  table_line line{{stage_name(row), "✓"}, remark_of(row, with.timed && !with.counted), colour::green};
  if (with.counted) {
    for (std::size_t k = 0; k < figure_columns.size(); ++k) {
      if (with.figures[k] && row.figures) line.cells.push_back(figure_cell((*row.figures)[k], before, k));
    }
    return {line};
  }
  if (!with.timed) {
    if (row.verification) {
      if (with.trials) line.cells.push_back(trials_text(*row.verification));
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
  line.cells.push_back(ratio_text(row, "over_previous", row.over_previous, humanised_ratio));
  line.cells.push_back(ratio_text(row, "over_first", row.over_first, humanised_ratio));
  if (with.light)
    line.cells.push_back(ratio_text(row, "speed_of_light", row.speed_of_light, humanised_percentage));
  if (with.library)
    line.cells.push_back(ratio_text(row, "over_library", row.over_library, humanised_percentage));
  return {line};
}

std::string link_text(const link_record& link) {
  const auto bytes = static_cast<double>(link.bytes);
  return fmt::format("  link: {} from one GPU to another{} in {} ({}), 8 bytes in {}\n",
                     humanised_bytes(bytes), link.direct ? "" : ", through the host's memory,",
                     humanised_time(link.timing.median), humanised_bandwidth(bytes, link.timing.median),
                     humanised_time(link.of_8_bytes.median));
}

// "proofs: 6 recorded, 1 made now", of the group's rows.
std::string proofs_text(const result_group& group) {
  std::vector<std::string> parts;
  for (const auto& [how, shown] :
       {std::pair{"recorded", "recorded"}, {"kept", "kept"}, {"made", "made now"}}) {
    const auto count =
        std::count_if(group.rows.begin(), group.rows.end(),
                      [how = std::string(how)](const auto& row) { return row.proof.rfind(how, 0) == 0; });
    if (count > 0) parts.push_back(fmt::format("{} {}", count, shown));
  }
  return parts.empty() ? "" : fmt::format("  proofs: {}\n", fmt::join(parts, ", "));
}

std::string group_heading(const run_results& results, const result_group& group) {
  std::string text = group.track;
  if (!group.title.empty()) text += ": " + group.title;
  std::vector<std::string> facts;
  for (const auto& [name, value] : group.parameters)
    facts.push_back(fmt::format("{} = {}", name, value.text()));
  if (group.l2 != cache_state::none) facts.push_back("L2 " + to_string(group.l2));
  if (!facts.empty()) text += fmt::format("\n  {}", fmt::join(facts, ", "));
  text += "\n" + (results.verb == "verify" ? "" : proofs_text(group));
  if (const auto* ceiling = speed_of_light(group)) {
    const ceiling_record* const other = roof(group, ceiling->operations == 0);
    const auto bytes = static_cast<double>(ceiling->bytes);
    const std::string time = humanised_time(ceiling->timing.median);
    if (ceiling->operations > 0) {
      text += fmt::format(
          "  speed of light: {}, {} operations in {} ({:.1f} TFLOP/s){}\n", ceiling->kind,
          fmt::format("{:.3g}", ceiling->operations), time,
          ceiling->operations / ceiling->timing.median / 1e3,
          other == nullptr ? "" : fmt::format("; the bytes take {}", humanised_time(other->timing.median)));
    } else if (ceiling->cached) {
      text += fmt::format(
          "  a {} of {} takes {}; so little stays in the L2 cache, which has no speed of light here\n",
          ceiling->kind, humanised_bytes(bytes), time);
    } else {
      text += fmt::format("  speed of light: {} of {} in {} ({})\n", ceiling->kind, humanised_bytes(bytes),
                          time, humanised_bandwidth(bytes, ceiling->timing.median));
    }
    if (ceiling->link) text += link_text(*ceiling->link);
  } else if (!group.ceiling_problem.empty()) {
    text += fmt::format("  speed of light: not measured: {}\n", group.ceiling_problem);
  }
  if (results.counts) {
    text += fmt::format(
        "  counters of one launch, {}; (ratios) are to the stage before\n",
        results.device && is_emulator(*results.device) ? "modelled by the emulator" : "by Nsight Compute");
  } else if (results.verb != "verify" && results.device && is_emulator(*results.device)) {
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
  if (results.options.contains("processes")) {
    text += fmt::format("group    {} processes, started by {}\n",
                        results.options.at("processes").get<std::int64_t>(),
                        results.options.at("launcher").get<std::string>());
  }
  if (results.floor) {
    text += fmt::format("floor    {} for an empty kernel\n", humanised_time(results.floor->median));
  }
  return text + seed_text(results);
}

std::string seed_text(const run_results& results) {
  return fmt::format("seed     {}; proofs made now draw trials from {} (--trial-seed {} repeats them)\n",
                     results.seed, results.trial_seed, results.trial_seed);
}

std::string ladder_text(const run_results& results, const result_group& group, ladder_style style) {
  const auto any_row = [&group](const auto& is_so) {
    return std::any_of(group.rows.begin(), group.rows.end(), is_so);
  };
  ladder_columns with{
      .counted = results.counts,
      .timed = results.verb != "verify",
      .trials = any_row([](const auto& row) { return row.verification && row.verification->trials > 0; }),
      .light = !results.device || !is_emulator(*results.device),
      .library = any_row([](const auto& row) { return row.over_library.has_value(); })};
  std::vector<column> columns{{"stage", false}, {"verified", false}};
  for (std::size_t k = 0; k < figure_columns.size() && with.counted; ++k) {
    with.figures[k] = any_row([k](const auto& row) { return row.figures && (*row.figures)[k]; });
    if (with.figures[k]) columns.push_back({figure_columns[k].heading});
  }
  if (with.counted) {
    // No other column.
  } else if (with.timed) {
    for (const char* heading : {"median", "spread", "x previous", "x first"}) columns.push_back({heading});
    if (with.light) columns.push_back({"% of speed of light"});
    if (with.library) columns.push_back({"% of library"});
  } else {
    if (with.trials) columns.push_back({"trials"});
    for (const char* heading : {"cases", "compared", "largest error / bound"}) columns.push_back({heading});
  }
  std::vector<table_line> lines;
  figures_before before;
  for (const auto& row : group.rows) {
    for (auto& line : row_lines(row, with, before)) lines.push_back(std::move(line));
    if (row.figures && !row.library) before = row.figures;
  }
  return group_heading(results, group) + table_text(columns, lines, style);
}

std::string summary_text(const run_results& results) {
  const row_counts counts = count_rows(results);
  std::string text = fmt::format("{} ok, {} failed, {} skipped", counts.ok, counts.failed, counts.skipped);
  if (counts.expected_failures > 0) {
    text += fmt::format(", {} expected failure{}", counts.expected_failures,
                        counts.expected_failures == 1 ? "" : "s");
  }
  if (counts.ok == 0 && counts.failed == 0 && counts.expected_failures == 0) text += ": nothing ran";
  return text + "\n";
}

}  // namespace lab::front
