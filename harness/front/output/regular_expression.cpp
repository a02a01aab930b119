#include "harness/front/output/regular_expression.hpp"

#include <map>
#include <mutex>
#include <regex>

namespace lab::front {
namespace {

// Each pattern is compiled once.
const std::regex& compiled(const std::string& pattern) {
  static std::mutex mutex;
  static std::map<std::string, std::regex> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(pattern);
  return found != known.end() ? found->second : known.emplace(pattern, pattern).first->second;
}

}  // namespace

bool is_match(const std::string& text, const std::string& pattern) {
  return std::regex_match(text, compiled(pattern));
}

std::vector<std::string> matched_groups(const std::string& text, const std::string& pattern) {
  std::smatch match;
  if (!std::regex_match(text, match, compiled(pattern))) return {};
  return {match.begin(), match.end()};
}

std::string first_match(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, compiled(pattern)) ? match[1].str() : "";
}

std::vector<std::string> all_matches(const std::string& text, const std::string& pattern) {
  std::vector<std::string> found;
  const std::regex& expression = compiled(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    found.push_back((*at)[1].str());
  return found;
}

std::string replaced(const std::string& text, const std::string& pattern, const std::string& with) {
  return std::regex_replace(text, compiled(pattern), with);
}

std::string replaced_once(const std::string& text, const std::string& pattern, const std::string& with) {
  return std::regex_replace(text, compiled(pattern), with, std::regex_constants::format_first_only);
}

}  // namespace lab::front
