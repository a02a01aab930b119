// What only a terminal gets: colour, and a line that is rewritten in place.
#pragma once

#include <string>

namespace lab {

// Colour is for a terminal whose owner has not set NO_COLOR.
[[nodiscard]] bool standard_output_has_colour();

// Progress on stderr, rewritten in place on a terminal and absent from a log.
class status_line {
 public:
  status_line();
  explicit status_line(bool enabled) : enabled_(enabled) {}
  status_line(const status_line&) = delete;
  status_line& operator=(const status_line&) = delete;
  ~status_line() { clear(); }

  void show(const std::string& text);
  void clear();

  // Prints a whole line to stderr, above the status line.
  void print(const std::string& line);

 private:
  bool enabled_;
  std::string shown_;
};

}  // namespace lab
