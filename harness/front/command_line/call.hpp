// The verbs of the program as CLI11 sees them: the options of each, and what it does with them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/front/verbs/verbs.hpp"

namespace lab::front {

// A verb, whose options are filled when CLI11 has parsed a call.
struct verb {
  CLI::App* app = nullptr;
  std::function<int()> perform;
  std::function<build_request()> needs;  // what must be built first
  // Where words go that CLI11 is not given: parameters of tracks, the names of the verb's own options (to
  // suggest one that was misspelt), and what stands after "--". Null for a verb that takes none.
  std::vector<parameter_argument>* parameters = nullptr;
  std::vector<std::string>* option_names = nullptr;
  std::vector<std::string>* after_dashes = nullptr;
  compiler_words* words_for_compiler = nullptr;  // -I, -D and so on, which have one dash and a value
};

// By name.
[[nodiscard]] std::map<std::string, verb> add_verbs(CLI::App& program);

}  // namespace lab::front
