// Damaged text for whoever reads it: the same damage in every run.
#pragma once

#include <random>
#include <string>
#include <string_view>

namespace lab::test {

// Changes, removes, doubles or cuts off a few bytes; `marks` are characters that matter to the reader.
inline std::string damaged(std::string text, std::string_view marks, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  for (std::size_t changes = 1 + below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = below(text.size()), length = 1 + below(30);
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), length));
        break;
      case 3:
        text[at] = marks[below(marks.size())];
        break;
      default:
        text.resize(at + 1);
    }
  }
  return text;
}

}  // namespace lab::test
