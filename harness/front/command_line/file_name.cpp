#include "harness/front/command_line/file_name.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace lab::front {

std::string stem_of_call(const std::string& stage, const std::vector<parameter_argument>& choices) {
  constexpr std::size_t longest = 200;  // bytes: file systems take 255
  std::string stem = stage;
  for (const parameter_argument& one : choices) {
    stem += "." + one.name;
    if (!one.text.empty()) stem += "_" + one.text;
  }
  std::replace_if(
      stem.begin(), stem.end(),
      [](unsigned char c) {
        return std::isalnum(c) == 0 && std::string_view("-_.").find(c) == std::string_view::npos;
      },
      '_');
  return stem.substr(0, longest);
}

}  // namespace lab::front
