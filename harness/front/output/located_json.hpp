// JSON that a person wrote: what is wrong in it is said with the line on which it stands.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lab::front {

// What is wrong, and on which line of the text.
struct json_mistake {
  std::size_t line;
  std::string text;
};

// A value of a document, which knows where it stands. It must not outlive the document. All but has(), name()
// and value() throw json_mistake.
class json_node {
 public:
  json_node(const nlohmann::json& value, std::string pointer, const std::map<std::string, std::size_t>& lines)
      : value_(value), pointer_(std::move(pointer)), lines_(lines) {}

  [[noreturn]] void refuse(const std::string& text) const;
  // "'name' must be <wanted>, not <the value>"
  [[noreturn]] void refuse_value(const char* wanted) const;

  // The member's name, or its number in a list.
  [[nodiscard]] std::string name() const { return pointer_.substr(pointer_.rfind('/') + 1); }

  // Refuses a member that is none of `known`.
  void check_members(const std::vector<std::string>& known) const;
  [[nodiscard]] bool has(const std::string& member) const { return value_.contains(member); }
  [[nodiscard]] json_node at(const std::string& member) const {
    return {value_.at(member), pointer_ + "/" + member, lines_};
  }
  // Refuses the lack of the member: "<whose> needs 'member'".
  [[nodiscard]] json_node needed(const std::string& member, const char* whose) const;
  [[nodiscard]] std::vector<json_node> elements() const;  // of a list
  [[nodiscard]] std::vector<json_node> members() const;   // of an object

  [[nodiscard]] const nlohmann::json& value() const { return value_; }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool truth() const;
  [[nodiscard]] double number() const;

 private:
  const nlohmann::json& value_;
  std::string pointer_;
  const std::map<std::string, std::size_t>& lines_;
};

class located_json {
 public:
  // Throws json_mistake where the text is no JSON, is nested too deeply, or has a member twice.
  explicit located_json(const std::string& text);

  [[nodiscard]] json_node root() const { return {value_, "", lines_}; }

 private:
  std::map<std::string, std::size_t> lines_;  // by JSON pointer
  nlohmann::json value_;
};

}  // namespace lab::front
