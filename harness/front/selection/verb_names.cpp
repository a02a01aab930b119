#include "harness/front/selection/verb_names.hpp"

#include <sstream>
#include <vector>

#include "harness/front/selection/verbs_text.hpp"

namespace lab::front {
namespace {

struct known_verb {
  std::string owner;  // a program, or "launcher"
  std::string name;
  std::string summary;
};

const std::vector<known_verb>& known_verbs() {
  static const std::vector<known_verb> verbs = [] {
    std::vector<known_verb> read;
    std::istringstream lines(verbs_text);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t first = line.find('|');
      if (line.rfind('#', 0) == 0 || first == std::string::npos) continue;
      const std::size_t second = line.find('|', first + 1);
      read.push_back(
          {line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1)});
    }
    return read;
  }();
  return verbs;
}

const known_verb* find_verb(const std::string& name) {
  for (const known_verb& one : known_verbs()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace

std::string verb_summary(const std::string& name) {
  const known_verb* const verb = find_verb(name);
  return verb == nullptr ? "" : verb->summary;
}

bool is_launchers(const std::string& name) {
  const known_verb* const verb = find_verb(name);
  return verb != nullptr && verb->owner == "launcher";
}

}  // namespace lab::front
