// What a student writes between two markers, before it is compiled: C++ that keeps to its place and to the
// words of a kernel.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "harness/front/exercises/exercise_file.hpp"

namespace lab::front {

using word_set = std::set<std::string, std::less<>>;

// The words that a part of this exercise may use beside those of C++ and of CUDA's device code: the names in
// the stage's source, without what its host code alone has a use for, and those in the exercise's beginning.
// The words of the solution's own regions are all among them.
[[nodiscard]] word_set words_for(const exercise& exercise, const std::string& stage_source);

// A name that is the student's own begins so in what is compiled.
inline constexpr std::string_view own_prefix = "yours_";

// The part as it is compiled. Every name in it that is none of the words has `own_prefix` before it: it can
// mean what the part itself declares, and nothing that a header brings along, whatever the header. `text`
// begins in line `first` of its file, which stays the line of everything in it.
//
// Throws source_error, with its line, for what can reach out of the part: a brace too many or too few, a
// preprocessor's line other than #pragma unroll (in whatever disguise), a comment or literal that does not
// end, a line that is joined to the next one, a raw string, digraphs and trigraphs, attributes, and words of
// C++ that kernels have no use for (asm, goto, throw, new, static, ...). Throws one where nothing is written.
[[nodiscard]] std::string admitted_part(const std::string& text, std::size_t first, const std::string& name,
                                        const word_set& words);

// A compiler's message with own names as the student has written them.
[[nodiscard]] std::string without_own_prefix(std::string message);

}  // namespace lab::front
