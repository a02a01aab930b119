// Regular expressions, in one file of the program: <regex> costs a compiler two seconds in each that includes
// it.
#pragma once

#include <string>
#include <vector>

namespace lab::front {

// Patterns are ECMAScript's. Whether one describes the whole text.
bool is_match(const std::string& text, const std::string& pattern);

// The whole text and the pattern's groups, empty where they took no part; nothing where the text does not
// match.
std::vector<std::string> matched_groups(const std::string& text, const std::string& pattern);

// The first group, at the first place in the text that matches; empty where none does.
std::string first_match(const std::string& text, const std::string& pattern);

// The first group of each match, in their order.
std::vector<std::string> all_matches(const std::string& text, const std::string& pattern);

// The text with every match replaced; `with` may name groups, as $1.
std::string replaced(const std::string& text, const std::string& pattern, const std::string& with);
std::string replaced_once(const std::string& text, const std::string& pattern, const std::string& with);

}  // namespace lab::front
