// C++ as the preprocessor leaves it, as tokens that know their file and line.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lab::front {

enum class token_kind { identifier, number, literal, punctuator };

struct token {
  token_kind kind;
  std::string_view text;  // into the source
  std::size_t offset;
  int line;        // of the user's file
  unsigned file;   // into token_list::files
  bool is_system;  // from a header that the system or the emulator brings
};

struct token_list {
  std::vector<token> tokens;
  std::vector<std::string> files;
};

// `source` must live as long as the tokens. Follows the preprocessor's line markers (`# 12 "file.cu" 3`).
// Angle brackets are always single tokens, `<<<` is three. What is no token (an unclosed string, a stray
// byte) is skipped to the end of its line: the compiler will say what is wrong with it.
[[nodiscard]] token_list tokens_of(std::string_view source);

// The words of a text that lives on, parted by blanks, to look one up among them.
[[nodiscard]] std::set<std::string_view> words_in(std::string_view text);

}  // namespace lab::front
