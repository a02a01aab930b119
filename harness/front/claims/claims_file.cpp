#include "harness/front/claims/claims_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <stdexcept>
#include <utility>

#include "common/file.hpp"
#include "harness/front/counters/known_counters.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/selection/parameters.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

// More than any page promises; a file that grows without end is not read to its end.
constexpr std::uintmax_t max_bytes = 1 << 20;

// Claims have parameters, and nothing in them.
constexpr std::size_t max_depth = 8;

// What is wrong, and on which line of the file.
struct mistake {
  std::size_t line;
  std::string text;
};

// Iterates over a text, and tells the parser's handler how far the parser has read.
struct watched_position {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** read;  // the last character that was taken

  reference operator*() const { return *at; }
  watched_position& operator++() {
    *read = at++;
    return *this;
  }
  bool operator==(const watched_position& other) const { return at == other.at; }
  bool operator!=(const watched_position& other) const { return at != other.at; }
};

// Finds out on which line each value of a document stands, by its JSON pointer, and refuses members that
// stand twice.
class line_finder : public nlohmann::json::json_sax_t {
 public:
  explicit line_finder(const std::string& text) : counted_(text.data()), read_(text.data()) {}

  static std::map<std::string, std::size_t> lines_of(const std::string& text) {
    line_finder finder(text);
    nlohmann::json::sax_parse(watched_position{text.data(), &finder.read_},
                              watched_position{text.data() + text.size(), &finder.read_}, &finder);
    return std::move(finder.lines_);
  }

  bool null() override { return value(); }
  bool boolean(bool /*value*/) override { return value(); }
  bool number_integer(nlohmann::json::number_integer_t /*value*/) override { return value(); }
  bool number_unsigned(nlohmann::json::number_unsigned_t /*value*/) override { return value(); }
  bool number_float(nlohmann::json::number_float_t /*value*/, const std::string& /*text*/) override {
    return value();
  }
  bool string(std::string& /*value*/) override { return value(); }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return value(); }
  bool start_object(std::size_t /*members*/) override { return begin(false); }
  bool end_object() override { return end(); }
  bool start_array(std::size_t /*members*/) override { return begin(true); }
  bool end_array() override { return end(); }
  bool key(std::string& name) override {
    name_ = name;
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& error) override {
    const std::string words = error.what();
    const std::size_t reason = words.find(": ");
    throw mistake{line(), "this is no JSON: " + words.substr(reason == std::string::npos ? 0 : reason + 2)};
  }

 private:
  struct place {
    std::string pointer;
    bool is_array;
    std::size_t members = 0;
  };

  // Of the last character that was read.
  std::size_t line() {
    line_ += static_cast<std::size_t>(std::count(counted_, read_, '\n'));
    counted_ = read_;
    return line_;
  }
  // The pointer of the value that begins here.
  std::string enter() {
    std::string pointer;
    if (!open_.empty()) {
      place& outer = open_.back();
      pointer = outer.pointer + "/" + (outer.is_array ? std::to_string(outer.members++) : name_);
    }
    if (!lines_.emplace(pointer, line()).second)
      throw mistake{line(), fmt::format("'{}' stands twice", name_)};
    return pointer;
  }
  bool value() {
    enter();
    return true;
  }
  bool begin(bool is_array) {
    if (open_.size() == max_depth) throw mistake{line(), "this is no JSON of claims: too deep"};
    open_.push_back({enter(), is_array});
    return true;
  }
  bool end() {
    open_.pop_back();
    return true;
  }

  const char* counted_;  // lines before this character are counted
  std::size_t line_ = 1;
  const char* read_;  // the last character that the parser took
  std::string name_;
  std::vector<place> open_;
  std::map<std::string, std::size_t> lines_;
};

// A value of the document, which knows where it stands.
class node {
 public:
  node(const nlohmann::json& value, std::string pointer, const std::map<std::string, std::size_t>& lines)
      : value_(value), pointer_(std::move(pointer)), lines_(lines) {}

  [[noreturn]] void refuse(const std::string& text) const { throw mistake{lines_.at(pointer_), text}; }
  [[noreturn]] void refuse_value(const char* wanted) const {
    refuse(fmt::format("'{}' must be {}, not {}", name(), wanted, cleaned(value_.dump(), 60)));
  }

  [[nodiscard]] std::string name() const { return pointer_.substr(pointer_.rfind('/') + 1); }

  // Every member, each of which must be one of `known`.
  void check_members(const std::vector<std::string>& known) const {
    for (const auto& [member, value] : value_.items()) {
      if (std::find(known.begin(), known.end(), member) == known.end()) {
        at(member).refuse(
            fmt::format("there is no '{}' here; the members are {}", member, fmt::join(known, ", ")));
      }
    }
  }
  [[nodiscard]] bool has(const std::string& member) const { return value_.contains(member); }
  [[nodiscard]] node at(const std::string& member) const {
    return {value_.at(member), pointer_ + "/" + member, lines_};
  }
  [[nodiscard]] node needed(const std::string& member) const {
    if (!has(member)) refuse(fmt::format("a claim needs '{}'", member));
    return at(member);
  }
  [[nodiscard]] std::vector<node> elements() const {
    if (!value_.is_array()) refuse_value("a list");
    std::vector<node> all;
    for (std::size_t number = 0; number < value_.size(); ++number)
      all.emplace_back(value_[number], pointer_ + "/" + std::to_string(number), lines_);
    return all;
  }
  [[nodiscard]] std::vector<node> members() const {
    if (!value_.is_object()) refuse_value("an object");
    std::vector<node> all;
    for (const auto& [member, value] : value_.items()) all.push_back(at(member));
    return all;
  }

  [[nodiscard]] const nlohmann::json& value() const { return value_; }
  [[nodiscard]] std::string text() const {
    if (!value_.is_string()) refuse_value("a text");
    return value_.get<std::string>();
  }
  [[nodiscard]] bool truth() const {
    if (!value_.is_boolean()) refuse_value("true or false");
    return value_.get<bool>();
  }
  [[nodiscard]] double number() const {
    if (!value_.is_number()) refuse_value("a number");
    return value_.get<double>();
  }

 private:
  const nlohmann::json& value_;
  std::string pointer_;
  const std::map<std::string, std::size_t>& lines_;
};

std::string optional_text(const node& claim, const std::string& member) {
  return claim.has(member) ? claim.at(member).text() : "";
}

// A counter of the catalogue, or one that this file names among its metrics: a name that is wrong must be
// wrong twice.
std::string counter_name(const node& name, const std::vector<std::string>& metrics) {
  std::string text = name.text();
  if (find_counter(text) != nullptr || std::find(metrics.begin(), metrics.end(), text) != metrics.end())
    return text;
  std::vector<std::string> known;
  for (const known_counter& one : known_counters()) known.push_back(one.name);
  const auto near = text.size() > 200 ? std::vector<std::string>{} : near_names(text, known);
  name.refuse(fmt::format("no counter '{}' is known{}", cleaned(text, 100),
                          near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "))));
}

std::string metric_name(const node& name) {
  std::string text = name.text();
  if (!is_metric_name(text)) name.refuse(fmt::format("'{}' is no name of a counter", cleaned(text, 100)));
  return text;
}

relation relation_of(const node& holds) {
  const std::string text = holds.text();
  for (std::size_t one = 0; one < std::size(relation_names); ++one) {
    if (text == relation_names[one]) return static_cast<relation>(one);
  }
  holds.refuse_value("equal, at_most or at_least");
}

parameter_value value_of(const node& given, const track_description& track) {
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

claim claim_from(const node& given, const std::vector<std::string>& metrics, const track_description& track) {
  if (!given.value().is_object()) given.refuse("a claim must be an object");
  given.check_members(
      {"metric", "per", "over_previous", "holds", "value", "at", "device", "compute_capability", "because"});
  claim claim;
  const node metric = given.needed("metric");
  const bool of_time = is_about_time(metric.text());
  claim.metric = of_time ? metric.text() : counter_name(metric, metrics);
  if (given.has("per")) claim.per = counter_name(given.at("per"), metrics);
  if (given.has("over_previous")) claim.over_previous = given.at("over_previous").truth();
  claim.holds = relation_of(given.needed("holds"));
  claim.value = given.needed("value").number();
  if (given.has("at")) {
    for (const node& one : given.at("at").members()) claim.at[one.name()] = value_of(one, track);
  }
  claim.at_text = parameters_text(track, claim.at);
  claim.device = optional_text(given, "device");
  claim.compute_capability = optional_text(given, "compute_capability");
  claim.because = cleaned(optional_text(given, "because"));
  static const std::regex capability("[0-9]{1,3}\\.[0-9]");
  if (given.has("compute_capability") && !std::regex_match(claim.compute_capability, capability))
    given.at("compute_capability").refuse_value("a compute capability, such as \"9.0\"");
  if (!of_time) return claim;
  for (const char* member : {"per", "over_previous"}) {
    if (given.has(member)) given.at(member).refuse(fmt::format("a claim about time has no '{}'", member));
  }
  if (claim.compute_capability.empty() || claim.at.empty())
    given.refuse("a claim about time names its sizes ('at') and a compute_capability");
  return claim;
}

stage_claims claims_from(const node& document, const track_description& track) {
  if (!document.value().is_object()) document.refuse("the file must hold one JSON object");
  document.check_members({"$schema", "metrics", "claims"});
  stage_claims read;
  if (document.has("metrics")) {
    for (const node& one : document.at("metrics").elements()) read.metrics.push_back(metric_name(one));
  }
  if (document.has("claims")) {
    for (const node& one : document.at("claims").elements())
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

stage_claims parse_claims(const std::string& text, const std::string& file, const track_description& track) {
  try {
    const auto lines = line_finder::lines_of(text);
    return claims_from({nlohmann::json::parse(text), "", lines}, track);
  } catch (const mistake& found) {
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
