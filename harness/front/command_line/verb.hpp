// A verb of a program as CLI11 sees it: its options, and what it does with them. Each is a file of verbs/.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/front/run/build_targets.hpp"
#include "harness/front/selection/parameters.hpp"

namespace CLI {
class App;
}

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
  // Takes words of its own out of the call, such as -I and -D, which have one dash and a value.
  std::function<void(std::vector<std::string>&)> take_words = {};
};

// Adds itself to the program, which owns the options.
using verb_maker = verb (*)(CLI::App& program);

// Its options' owner, with its name and its summary (selection/verbs.txt).
[[nodiscard]] CLI::App* add_verb(CLI::App& program, const std::string& name);

}  // namespace lab::front
