#include "harness/front/compare/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/front/output/format.hpp"
#include "harness/front/output/table.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/protocol.hpp"

namespace lab::front {
namespace {

// The sampler takes a sample below 95 % of the highest clock again: rows farther apart than this were
// throttled.
constexpr double largest_clock_difference = 0.05;

// "+3.02 %"
std::string signed_percentage(double fraction) {
  return fmt::format("{:+.2f} %", fraction * 100);
}

std::string noise_percentage(double fraction) {
  return fmt::format("{:.2f} %", fraction * 100);
}

std::string interval_text(const time_difference& difference) {
  if (!difference.has_interval) return "none";
  return fmt::format("[{}, {}]", signed_percentage(difference.lower), signed_percentage(difference.upper));
}

// Why two rows of the same name do not belong together; empty where they do.
std::string mismatch(const recorded_row& older, const recorded_row& newer) {
  std::vector<std::string> reasons;
  for (const auto& [name, value] : older.measured_under) {
    for (const auto& [other_name, other] : newer.measured_under) {
      if (name == other_name && value != other)
        reasons.push_back(fmt::format("{}: {} and {}", name, value, other));
    }
  }
  if (older.sm_clock_mhz && newer.sm_clock_mhz) {
    const double ratio = *newer.sm_clock_mhz / *older.sm_clock_mhz;
    if (!(std::abs(ratio - 1) <= largest_clock_difference))
      reasons.push_back(fmt::format("SM clock during the samples: {:.0f} and {:.0f} MHz", *older.sm_clock_mhz,
                                    *newer.sm_clock_mhz));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

double geometric_mean(const std::vector<process_samples>& processes) {
  double sum = 0;
  for (const auto& samples : processes) sum += std::log(median_of(samples));
  return std::exp(sum / static_cast<double>(processes.size()));
}

// The larger source of noise of the noisier side, in words.
std::string deciding_noise(const compared_row& row) {
  if (row.old_processes < 2 && row.new_processes < 2)
    return "not measured: one process on each side (record both with lab run --repeat 5)";
  const auto size = [](const side_noise& noise) { return std::max(noise.between, noise.within); };
  const bool newer = size(row.new_noise) > size(row.old_noise);
  const side_noise& noise = newer ? row.new_noise : row.old_noise;
  const char* side = newer ? "new" : "old";
  if (noise.between >= noise.within)
    return fmt::format("{} between processes ({})", noise_percentage(noise.between), side);
  return fmt::format("{} of a median within a process ({})", noise_percentage(noise.within), side);
}

compared_row compare_row(const recorded_row& older, const recorded_row& newer, double threshold) {
  compared_row row;
  row.name = older.name;
  row.old_median = geometric_mean(older.processes);
  row.new_median = geometric_mean(newer.processes);
  row.old_processes = older.processes.size();
  row.new_processes = newer.processes.size();
  row.difference = compare_times(older.processes, newer.processes, comparison_confidence);
  row.old_noise = noise_of(older.processes);
  row.new_noise = noise_of(newer.processes);
  row.decided_by = deciding_noise(row);
  row.same_sources = !older.sources.empty() && older.sources == newer.sources;
  row.verdict = verdict_of(row.difference, threshold);
  return row;
}

uncompared_row without_time(const recorded_row& older, const recorded_row& newer) {
  const auto state = [](const recorded_row& row) {
    std::string text = row.processes.empty() ? row.status : "timed";
    if (!row.message.empty()) text += fmt::format(" ({})", row.message);
    return text;
  };
  return {older.name, fmt::format("old: {}; new: {}", state(older), state(newer)),
          !older.processes.empty() && newer.status == "failed"};
}

// "2 SLOWER, 3 SAME", and what was not compared.
std::string verdict_counts(const comparison& compared) {
  std::vector<std::string> parts;
  for (int i = 0; i < 4; ++i) {
    const auto count = std::count_if(compared.rows.begin(), compared.rows.end(),
                                     [&](const auto& row) { return static_cast<int>(row.verdict) == i; });
    if (count > 0) parts.push_back(fmt::format("{} {}", count, row_verdict_names[i]));
  }
  if (!compared.uncompared.empty())
    parts.push_back(fmt::format("{} not compared", compared.uncompared.size()));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string method_text(const comparison& compared) {
  return fmt::format(
      "{:.0f} % intervals of new / old - 1, from the medians of processes; threshold {} (docs/compare.md)",
      comparison_confidence * 100, noise_percentage(compared.threshold));
}

// As text of Markdown, whatever characters are in it.
std::string markdown_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      if (std::string("\\`*_|[]>#@~").find(c) != std::string::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

// Where one changed or the other did not, though a reader would think so.
std::string source_remark(const compared_row& row) {
  const bool differs = row.verdict == row_verdict::faster || row.verdict == row_verdict::slower;
  return differs && row.same_sources ? "the stage's sources are the same: something else changed" : "";
}

}  // namespace

row_verdict verdict_of(const time_difference& difference, double threshold) {
  if (!difference.has_interval) return row_verdict::inconclusive;
  if (difference.lower > 0 && difference.estimate >= threshold) return row_verdict::slower;
  // As far below one as the threshold lies above it: 1 / 1.01 for a percent.
  const double below = 1 / (1 + threshold) - 1;
  if (difference.upper < 0 && difference.estimate <= below) return row_verdict::faster;
  if (difference.lower >= below && difference.upper <= threshold) return row_verdict::same;
  return row_verdict::inconclusive;
}

namespace {

std::set<std::string> tracks_of(const recorded_side& side) {
  std::set<std::string> tracks;
  for (const auto& row : side.rows) tracks.insert(row.name.track);
  return tracks;
}

// Why a row is on this side alone: the other may have nothing of its track.
std::string only_in(const char* side, const char* other_side, const std::set<std::string>& other,
                    const std::string& track) {
  std::string text = fmt::format("only in the {} results", side);
  if (!other.contains(track)) text += fmt::format(", and nothing of {} in the {} ones", track, other_side);
  return text;
}

}  // namespace

comparison compare_sides(const recorded_side& older, const recorded_side& newer, double threshold) {
  comparison compared{.old_path = older.path, .new_path = newer.path, .threshold = threshold};
  compared.remarks = older.remarks;
  compared.remarks.insert(compared.remarks.end(), newer.remarks.begin(), newer.remarks.end());
  std::map<row_name, const recorded_row*> of_newer;
  for (const auto& row : newer.rows) of_newer[row.name] = &row;
  const std::set<std::string> old_tracks = tracks_of(older);
  const std::set<std::string> new_tracks = tracks_of(newer);
  const bool share_a_track = std::any_of(old_tracks.begin(), old_tracks.end(),
                                         [&](const auto& track) { return new_tracks.contains(track); });
  if (!share_a_track && !old_tracks.empty() && !new_tracks.empty()) {
    throw usage_error(fmt::format(
        "{} and {} are of different tracks, {} and {}: times are compared within one", cleaned(older.path),
        cleaned(newer.path), cleaned(fmt::format("{}", fmt::join(old_tracks, ", "))),
        cleaned(fmt::format("{}", fmt::join(new_tracks, ", ")))));
  }
  bool all_identical = true;
  for (const auto& row : older.rows) {
    const auto found = of_newer.find(row.name);
    if (found == of_newer.end()) {
      compared.uncompared.push_back({row.name, only_in("old", "new", new_tracks, row.name.track), false});
      continue;
    }
    const recorded_row& other = *found->second;
    of_newer.erase(found);
    if (row.processes.empty() || other.processes.empty()) {
      compared.uncompared.push_back(without_time(row, other));
    } else if (const std::string why = mismatch(row, other); !why.empty()) {
      compared.uncompared.push_back({row.name, why, false});
    } else {
      all_identical = all_identical && row.processes == other.processes;
      compared.rows.push_back(compare_row(row, other, threshold));
    }
  }
  for (const auto& row : newer.rows) {
    if (of_newer.count(row.name) > 0)
      compared.uncompared.push_back({row.name, only_in("new", "old", old_tracks, row.name.track), false});
  }
  if (compared.rows.empty() && !has_regression(compared)) {
    std::set<std::string> reasons;
    for (const auto& row : compared.uncompared) reasons.insert(row.why);
    throw usage_error(fmt::format("no row of {} can be compared with one of {}: {}", cleaned(older.path),
                                  cleaned(newer.path), fmt::join(reasons, " | ")));
  }
  if (all_identical && !compared.rows.empty())
    throw usage_error(fmt::format("{} and {} hold the same samples: they are one measurement, and not two",
                                  cleaned(older.path), cleaned(newer.path)));
  return compared;
}

bool has_regression(const comparison& compared) {
  return std::any_of(compared.rows.begin(), compared.rows.end(),
                     [](const auto& row) { return row.verdict == row_verdict::slower; }) ||
         std::any_of(compared.uncompared.begin(), compared.uncompared.end(),
                     [](const auto& row) { return row.regression; });
}

std::string comparison_text(const comparison& compared) {
  std::string text;
  const row_name* before = nullptr;
  for (std::size_t i = 0; i < compared.rows.size();) {
    // A table for each ladder.
    table_rows table{{"stage", "old", "new", "difference", "interval", "verdict", "noise that decided"}};
    before = &compared.rows[i].name;
    std::vector<std::string> remarks;
    for (; i < compared.rows.size() && compared.rows[i].name.track == before->track &&
           compared.rows[i].name.parameters == before->parameters && compared.rows[i].name.l2 == before->l2;
         ++i) {
      const compared_row& row = compared.rows[i];
      table.push_back({row.name.stage.substr(row.name.stage.find('/') + 1), humanised_time(row.old_median),
                       humanised_time(row.new_median), signed_percentage(row.difference.estimate),
                       interval_text(row.difference), row_verdict_names[static_cast<int>(row.verdict)],
                       row.decided_by});
      if (const std::string remark = source_remark(row); !remark.empty())
        remarks.push_back(fmt::format("  {}: {}\n", row.name.stage, remark));
    }
    row_name heading = *before;
    heading.stage = heading.track;
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", title_of(heading));
    text += aligned_text(table,
                         {alignment::left, alignment::right, alignment::right, alignment::right,
                          alignment::right, alignment::left},
                         "  ");
    for (const auto& remark : remarks) text += remark;
  }
  if (!compared.uncompared.empty()) text += "\nnot compared\n";
  for (const auto& row : compared.uncompared) {
    text += fmt::format("  {}: {}{}\n", title_of(row.name), row.regression ? "REGRESSION: " : "", row.why);
  }
  for (const auto& remark : compared.remarks) text += fmt::format("note: {}\n", remark);
  return text + fmt::format("\n{}\n{}\n", verdict_counts(compared), method_text(compared));
}

std::string comparison_markdown(const comparison& compared) {
  std::string text = fmt::format("**{}**\n", verdict_counts(compared));
  if (!compared.rows.empty())
    text +=
        "\n| row | old | new | difference | interval | verdict | noise that decided |\n"
        "| --- | ---: | ---: | ---: | ---: | --- | --- |\n";
  for (const auto& row : compared.rows) {
    const bool plain = row.verdict == row_verdict::same || row.verdict == row_verdict::inconclusive;
    const char* mark = plain ? "" : "**";
    const std::string remark = source_remark(row);
    text += fmt::format("| {} | {} | {} | {} | {} | {}{}{} | {} |\n", markdown_escaped(title_of(row.name)),
                        humanised_time(row.old_median), humanised_time(row.new_median),
                        signed_percentage(row.difference.estimate), interval_text(row.difference), mark,
                        row_verdict_names[static_cast<int>(row.verdict)], mark,
                        markdown_escaped(row.decided_by + (remark.empty() ? "" : "; " + remark)));
  }
  if (!compared.uncompared.empty()) text += "\nNot compared:\n\n";
  for (const auto& row : compared.uncompared) {
    text += fmt::format("* {}{}: {}\n", row.regression ? "**REGRESSION** " : "",
                        markdown_escaped(title_of(row.name)), markdown_escaped(row.why));
  }
  if (!compared.remarks.empty()) text += "\n";
  for (const auto& remark : compared.remarks) text += fmt::format("* note: {}\n", markdown_escaped(remark));
  return text + fmt::format("\n{}\n", markdown_escaped(method_text(compared)));
}

void to_json(nlohmann::json& json, const comparison& compared) {
  const auto identity = [](const row_name& name) {
    return nlohmann::json{
        {"track", name.track}, {"stage", name.stage}, {"parameters", name.parameters}, {"l2", name.l2}};
  };
  const auto noise = [](const side_noise& one) {
    return nlohmann::json{{"between_processes", one.between}, {"within_process", one.within}};
  };
  auto rows = nlohmann::json::array();
  for (const auto& row : compared.rows) {
    nlohmann::json one = identity(row.name);
    const nlohmann::json none = nullptr;
    one.update(
        {{"verdict", row_verdict_names[static_cast<int>(row.verdict)]},
         {"old",
          {{"nanoseconds", row.old_median},
           {"processes", row.old_processes},
           {"noise", noise(row.old_noise)}}},
         {"new",
          {{"nanoseconds", row.new_median},
           {"processes", row.new_processes},
           {"noise", noise(row.new_noise)}}},
         {"difference", row.difference.estimate},
         {"interval",
          row.difference.has_interval ? nlohmann::json{row.difference.lower, row.difference.upper} : none},
         {"decided_by", row.decided_by},
         {"same_sources", row.same_sources}});
    rows.push_back(std::move(one));
  }
  auto uncompared = nlohmann::json::array();
  for (const auto& row : compared.uncompared) {
    nlohmann::json one = identity(row.name);
    one.update({{"why", row.why}, {"regression", row.regression}});
    uncompared.push_back(std::move(one));
  }
  json = {{"schema", "kernel-lab-comparison"},
          {"version", 1},
          {"old", compared.old_path},
          {"new", compared.new_path},
          {"threshold", compared.threshold},
          {"confidence", comparison_confidence},
          {"regression", has_regression(compared)},
          {"rows", rows},
          {"not_compared", uncompared},
          {"remarks", compared.remarks}};
}

}  // namespace lab::front
