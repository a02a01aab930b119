#include "harness/front/counters/known_counters.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "harness/front/counters/counters_json.hpp"

namespace lab::front {

const std::vector<known_counter>& known_counters() {
  static const std::vector<known_counter> counters = [] {
    std::vector<known_counter> read;
    const auto catalogue = nlohmann::json::parse(counters_json);
    for (const auto& one : catalogue.at("counters")) {
      read.push_back({.name = one.at("name"),
                      .label = one.at("label"),
                      .unit = one.at("unit"),
                      .meaning = one.at("meaning"),
                      .modelled = one.at("modelled"),
                      .column = one.value("column", "")});
    }
    return read;
  }();
  return counters;
}

const known_counter* find_counter(const std::string& name) {
  const auto& all = known_counters();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const known_counter& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

bool is_modelled(const std::string& name) {
  const known_counter* counter = find_counter(name);
  return counter != nullptr && counter->modelled;
}

bool is_own(const std::string& name) {
  return name.rfind("lab__", 0) == 0;
}

bool is_metric_name(const std::string& name) {
  constexpr std::size_t most = 200;
  return !name.empty() && name.size() <= most && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == ':';
  });
}

}  // namespace lab::front
