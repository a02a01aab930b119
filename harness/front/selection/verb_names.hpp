// What the lab can be asked to do, by name: verbs.txt, which the launcher reads as well.
#pragma once

#include <string>

namespace lab::front {

// What the verb does, in a few words; empty for a name that is none.
[[nodiscard]] std::string verb_summary(const std::string& name);

// Whether the launcher performs the verb, and the program does not know it.
[[nodiscard]] bool is_launchers(const std::string& name);

}  // namespace lab::front
