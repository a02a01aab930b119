// Standard output and standard error, and what only a terminal gets: colour, and a line that is rewritten in
// place.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace lab::front {

// Colour is for a terminal whose owner has not set NO_COLOR.
[[nodiscard]] bool standard_output_has_colour();

// Columns of the terminal that standard output is; 0 where it is none.
[[nodiscard]] std::size_t standard_output_width();

// Sees to it that descriptors 0 to 2 are open, so that no file or pipe takes the number of one that is
// closed. What stands in for a closed standard output refuses every write, as the closed one would.
void keep_standard_descriptors();

// Why some of what was printed to stdout is lost ("No space left on device"); empty where nothing is, or
// where its reader has seen enough (`lab list | head -1`).
[[nodiscard]] std::string lost_output();

// Progress on stderr: rewritten in place on a terminal, and a line of its own every half minute in a log.
class status_line {
 public:
  status_line();
  status_line(bool is_terminal, std::chrono::milliseconds between_lines)
      : is_terminal_(is_terminal), between_lines_(between_lines) {}
  status_line(const status_line&) = delete;
  status_line& operator=(const status_line&) = delete;
  ~status_line() { clear(); }

  void show(const std::string& text);
  void clear();

  // Prints a whole line to stderr, above the status line.
  void print(const std::string& line);

 private:
  bool is_terminal_;
  std::chrono::milliseconds between_lines_;  // of a log
  std::chrono::steady_clock::time_point last_line_ = std::chrono::steady_clock::now();
  std::string shown_;
};

}  // namespace lab::front
