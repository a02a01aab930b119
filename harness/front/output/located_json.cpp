#include "harness/front/output/located_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "harness/front/output/format.hpp"

namespace lab::front {
namespace {

// More layers than any file of the lab's has.
constexpr std::size_t max_depth = 8;

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
    throw json_mistake{line(),
                       "this is no JSON: " + words.substr(reason == std::string::npos ? 0 : reason + 2)};
  }

 private:
  struct open_value {
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
      open_value& outer = open_.back();
      pointer = outer.pointer + "/" + (outer.is_array ? std::to_string(outer.members++) : name_);
    }
    if (!lines_.emplace(pointer, line()).second)
      throw json_mistake{line(), fmt::format("'{}' stands twice", name_)};
    return pointer;
  }
  bool value() {
    enter();
    return true;
  }
  bool begin(bool is_array) {
    if (open_.size() == max_depth) throw json_mistake{line(), "this is JSON nested too deep"};
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
  std::vector<open_value> open_;
  std::map<std::string, std::size_t> lines_;
};

}  // namespace

located_json::located_json(const std::string& text)
    : lines_(line_finder::lines_of(text)), value_(nlohmann::json::parse(text)) {}

void json_node::refuse(const std::string& text) const {
  throw json_mistake{lines_.at(pointer_), text};
}

void json_node::refuse_value(const char* wanted) const {
  refuse(fmt::format("'{}' must be {}, not {}", name(), wanted, cleaned(value_.dump(), 60)));
}

void json_node::check_members(const std::vector<std::string>& known) const {
  for (const auto& [member, value] : value_.items()) {
    if (std::find(known.begin(), known.end(), member) == known.end()) {
      at(member).refuse(
          fmt::format("there is no '{}' here; the members are {}", member, fmt::join(known, ", ")));
    }
  }
}

json_node json_node::needed(const std::string& member, const char* whose) const {
  if (!has(member)) refuse(fmt::format("{} needs '{}'", whose, member));
  return at(member);
}

std::vector<json_node> json_node::elements() const {
  if (!value_.is_array()) refuse_value("a list");
  std::vector<json_node> all;
  for (std::size_t number = 0; number < value_.size(); ++number)
    all.emplace_back(value_[number], pointer_ + "/" + std::to_string(number), lines_);
  return all;
}

std::vector<json_node> json_node::members() const {
  if (!value_.is_object()) refuse_value("an object");
  std::vector<json_node> all;
  for (const auto& [member, value] : value_.items()) all.push_back(at(member));
  return all;
}

std::string json_node::text() const {
  if (!value_.is_string()) refuse_value("a text");
  return value_.get<std::string>();
}

bool json_node::truth() const {
  if (!value_.is_boolean()) refuse_value("true or false");
  return value_.get<bool>();
}

double json_node::number() const {
  if (!value_.is_number()) refuse_value("a number");
  return value_.get<double>();
}

}  // namespace lab::front
