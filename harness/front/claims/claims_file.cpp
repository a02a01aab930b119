#include "harness/front/claims/claims_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "common/file.hpp"
#include "harness/front/counters/known_counters.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/regular_expression.hpp"
#include "harness/front/selection/parameters.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

// More than any page promises; a file that grows without end is not read to its end.
constexpr std::uintmax_t max_bytes = 1 << 20;

std::string optional_text(const json_node& claim, const std::string& member) {
  return claim.has(member) ? claim.at(member).text() : "";
}

// A counter of the catalogue, or one that this file names among its metrics: a name that is wrong must be
// wrong twice.
std::string counter_name(const json_node& name, const std::vector<std::string>& metrics) {
  std::string text = name.text();
  if (find_counter(text) != nullptr || std::find(metrics.begin(), metrics.end(), text) != metrics.end())
    return text;
  std::vector<std::string> known;
  for (const known_counter& one : known_counters()) known.push_back(one.name);
  const auto near = text.size() > 200 ? std::vector<std::string>{} : near_names(text, known);
  name.refuse(fmt::format("no counter '{}' is known{}", cleaned(text, 100),
                          near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "))));
}

std::string metric_name(const json_node& name) {
  std::string text = name.text();
  if (!is_metric_name(text)) name.refuse(fmt::format("'{}' is no name of a counter", cleaned(text, 100)));
  return text;
}

parameter_value value_of(const json_node& given, const track_description& track) {
  const auto& known = track.parameters;
  const auto parameter =
      std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == given.name(); });
  if (parameter == known.end()) {
    std::vector<std::string> names;
    for (const auto& one : known) names.push_back(one.name);
    given.refuse(
        fmt::format("{} has no parameter '{}'; it has {}", track.name, given.name(), fmt::join(names, ", ")));
  }
  const nlohmann::json& value = given.value();
  if (!value.is_string() && !value.is_number()) given.refuse_value("a number or a word");
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  try {
    return parse_value(track, *parameter, text);
  } catch (const std::exception& error) {
    given.refuse(cleaned(error.what()));
  }
}

claim claim_from(const json_node& given, const std::vector<std::string>& metrics,
                 const track_description& track) {
  if (!given.value().is_object()) given.refuse("a claim must be an object");
  given.check_members({"metric", "per", "over_previous", "holds", "value", "at", "device",
                       "compute_capability", "because", "after_measurement"});
  claim claim;
  const json_node metric = given.needed("metric", "a claim");
  const bool of_time = is_about_time(metric.text());
  claim.metric = of_time ? metric.text() : counter_name(metric, metrics);
  if (given.has("per")) claim.per = counter_name(given.at("per"), metrics);
  if (given.has("over_previous")) claim.over_previous = given.at("over_previous").truth();
  claim.holds = relation_of(given.needed("holds", "a claim"));
  claim.value = given.needed("value", "a claim").number();
  if (given.has("at")) {
    for (const json_node& one : given.at("at").members()) claim.at[one.name()] = value_of(one, track);
  }
  claim.at_text = parameters_text(track, claim.at);
  claim.device = optional_text(given, "device");
  claim.compute_capability = optional_text(given, "compute_capability");
  claim.because = cleaned(optional_text(given, "because"));
  // It is tested like any other; the pages do not show it as predicted (reports/tables.py).
  if (given.has("after_measurement")) static_cast<void>(given.at("after_measurement").truth());
  if (given.has("compute_capability") && !is_match(claim.compute_capability, "[0-9]{1,3}\\.[0-9]"))
    given.at("compute_capability").refuse_value("a compute capability, such as \"9.0\"");
  if (!of_time) return claim;
  for (const char* member : {"per", "over_previous"}) {
    if (given.has(member)) given.at(member).refuse(fmt::format("a claim about time has no '{}'", member));
  }
  if (claim.compute_capability.empty() || claim.at.empty())
    given.refuse("a claim about time names its sizes ('at') and a compute_capability");
  return claim;
}

stage_claims claims_from(const json_node& document, const track_description& track) {
  if (!document.value().is_object()) document.refuse("the file must hold one JSON object");
  document.check_members({"$schema", "metrics", "claims"});
  stage_claims read;
  if (document.has("metrics")) {
    for (const json_node& one : document.at("metrics").elements()) read.metrics.push_back(metric_name(one));
  }
  if (document.has("claims")) {
    for (const json_node& one : document.at("claims").elements())
      read.claims.push_back(claim_from(one, read.metrics, track));
  }
  return read;
}

// Where a stage's file is, and the name by which it is spoken of.
std::pair<fs::path, std::string> file_of(const stage_description& stage) {
  const std::string name = stage.path + "/claims.json";
  const char* const directory = std::getenv("LAB_STAGES");
  if (directory != nullptr && *directory != '\0')
    return {fs::path(directory) / name, (fs::path(directory) / name).string()};
  return {fs::path(LAB_SOURCE_ROOT) / "stages" / name, "stages/" + name};
}

}  // namespace

relation relation_of(const json_node& holds) {
  const std::string text = holds.text();
  for (std::size_t one = 0; one < std::size(relation_names); ++one) {
    if (text == relation_names[one]) return static_cast<relation>(one);
  }
  holds.refuse_value("equal, at_most or at_least");
}

stage_claims parse_claims(const std::string& text, const std::string& file, const track_description& track) {
  try {
    const located_json document(text);
    return claims_from(document.root(), track);
  } catch (const json_mistake& found) {
    return {.problem = fmt::format("{}:{}: {}", file, found.line, cleaned(found.text))};
  } catch (const std::exception& error) {
    return {.problem = fmt::format("{}: {}", file, cleaned(error.what()))};
  }
}

stage_claims read_claims(const track_description& track, const stage_description& stage) {
  const auto [path, name] = file_of(stage);
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > max_bytes)
    return {.problem = fmt::format("{}: no file of at most {} bytes", name, max_bytes)};
  try {
    return parse_claims(read_text(path), name, track);
  } catch (const std::exception& unreadable) {
    return {.problem = fmt::format("{}: {}", name, cleaned(unreadable.what()))};
  }
}

claims_by_stage read_claims(const std::vector<track_selection>& selections) {
  claims_by_stage all;
  for (const track_selection& selection : selections) {
    for (const stage_description* stage : selection.stages)
      all.emplace(stage->path, read_claims(*selection.track, *stage));
  }
  return all;
}

}  // namespace lab::front
