// The marked regions of a stage's source: an exercise is cut out of it, and what a student wrote is put into
// it.
//
//   // exercise: sum
//   sum += values[j];
//   // end
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/front/exercises/exercise_file.hpp"

namespace lab::front {

// What is wrong in a source, and on which line (0: on none).
class source_error : public std::runtime_error {
 public:
  source_error(std::size_t where, const std::string& text) : std::runtime_error(text), line(where) {}
  std::size_t line;
};

// The lines from `first` (counted from 1) up to but not including `end`: what stands between two markers.
struct marked_region {
  std::string name;
  std::size_t first = 0;
  std::size_t end = 0;
};

// The lines of a text, without their ends ("\n" or "\r\n").
[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);

// All marked regions, in their order. Throws source_error for one that does not end, that begins in another,
// or whose name stands twice.
[[nodiscard]] std::vector<marked_region> find_regions(const std::vector<std::string>& lines);

// The stage's source as the exercise begins: its regions hold what the student starts from, and all other
// markers are gone, as are the comments that tell answers. Throws source_error where the source lacks a
// region or such a comment.
[[nodiscard]] std::vector<std::string> cut(const std::vector<std::string>& solution,
                                           const exercise& exercise);

struct written_source {
  std::string text;  // what is compiled
  // Where the file differs from the exercise outside of its regions, as a line of the file; 0: nowhere.
  std::size_t changed_outside = 0;
};

// The lab's own source as `cut` makes it, with the student's regions, whose #line directives name `file`.
// What the student wrote outside of the regions has no part in it. Throws source_error for a region that is
// missing or empty, and for one that reaches out of its place (written_part.hpp).
[[nodiscard]] written_source put_in(const std::vector<std::string>& student,
                                    const std::vector<std::string>& solution, const exercise& exercise,
                                    const std::string& file);

// The line of what is compiled that its #line directives call `line`; nothing where there is none.
[[nodiscard]] std::optional<std::string> compiled_line(const std::string& text, std::size_t line);

// "#line 31 \"/path/stage.cu\"", and the end of the line.
[[nodiscard]] std::string line_directive(std::size_t line, const std::string& file);

// The source with the bodies of its kernels (__global__) emptied; nothing changes where there is none.
// `emptied` says how many there were.
[[nodiscard]] std::string without_kernel_bodies(const std::string& source, int& emptied);

}  // namespace lab::front
