#include "harness/front/emulate/tokens.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

namespace lab::front {
namespace {

bool begins_identifier(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalpha(byte) != 0 || c == '_' || c == '$' || byte >= 0x80;
}
bool goes_on_identifier(char c) {
  return begins_identifier(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Punctuators of more than one character. Those with angle brackets are left out, but for "->".
constexpr std::array<std::string_view, 18> long_punctuators{"...", "->*", "::", "->", "++", "--",
                                                            "&&",  "||",  "+=", "-=", "*=", "/=",
                                                            "%=",  "^=",  "&=", "|=", "==", "##"};

class lexer {
 public:
  explicit lexer(std::string_view source) : source_(source) { found_.files.emplace_back("(no file)"); }

  token_list run() {
    bool line_begins = true;
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
        line_begins = true;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else if (c == '#' && line_begins) {
        directive();
      } else {
        line_begins = false;
        one_token(c);
      }
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  [[nodiscard]] std::size_t end_of_line() const { return std::min(source_.find('\n', at_), source_.size()); }

  // `# 12 "file" 1 3`, or `#pragma ...`, to the end of the line.
  void directive() {
    const std::size_t end = end_of_line();
    std::string_view text = source_.substr(at_ + 1, end - at_ - 1);
    at_ = end;
    std::size_t position = 0;
    const auto skip_spaces = [&] {
      while (position < text.size() && (text[position] == ' ' || text[position] == '\t')) ++position;
    };
    skip_spaces();
    if (text.substr(position, 4) == "line") position += 4;
    skip_spaces();
    constexpr int most = 100'000'000;
    int number = 0;
    bool digits = false;
    for (; position < text.size() && std::isdigit(static_cast<unsigned char>(text[position])) != 0;
         ++position) {
      digits = true;
      if (number < most) number = number * 10 + (text[position] - '0');
    }
    if (!digits) return;
    line_ = number - 1;  // the end of this line counts
    skip_spaces();
    if (position >= text.size() || text[position] != '"') return;
    std::string name;
    for (++position; position < text.size() && text[position] != '"'; ++position) {
      if (text[position] == '\\' && position + 1 < text.size()) ++position;
      name += text[position];
    }
    const auto [entry, is_new] = numbers_.try_emplace(name, static_cast<unsigned>(found_.files.size()));
    if (is_new) {
      found_.files.push_back(name);
      // Its first marker tells: later ones have the flag as well where a system header's macro was expanded.
      const std::string_view flags = text.substr(std::min(position, text.size()));
      are_system_.push_back(flags.find('3') != std::string_view::npos);
    }
    file_ = entry->second;
    is_system_ = are_system_[file_];
  }

  void one_token(char c) {
    const std::size_t begin = at_;
    if (c == '/' && peek(1) == '/') {
      at_ = end_of_line();
    } else if (c == '/' && peek(1) == '*') {
      const std::size_t end = source_.find("*/", at_ + 2);
      skip_to(end == std::string_view::npos ? source_.size() : end + 2);
    } else if (begins_identifier(c)) {
      while (at_ < source_.size() && goes_on_identifier(source_[at_])) ++at_;
      const std::string_view word = source_.substr(begin, at_ - begin);
      const bool is_prefix = word == "L" || word == "u" || word == "U" || word == "u8";
      const bool is_raw = word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
      if (is_raw && peek(0) == '"') return raw_string(begin);
      if (is_prefix && (peek(0) == '"' || peek(0) == '\'')) return quoted(begin);
      add(token_kind::identifier, begin);
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
               (c == '.' && std::isdigit(static_cast<unsigned char>(peek(1))) != 0)) {
      number(begin);
    } else if (c == '"' || c == '\'') {
      quoted(begin);
    } else {
      std::size_t length = 1;
      for (const std::string_view one : long_punctuators) {
        if (source_.substr(at_, one.size()) == one) {
          length = one.size();
          break;
        }
      }
      at_ += length;
      add(token_kind::punctuator, begin);
    }
  }

  // A preprocessing number: 1'000, 0x1p-3, 1e+5f.
  void number(std::size_t begin) {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      const char before = at_ > begin ? source_[at_ - 1] : '\0';
      const bool is_sign =
          (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      const bool is_separator = c == '\'' && std::isalnum(static_cast<unsigned char>(peek(1))) != 0;
      if (!goes_on_identifier(c) && c != '.' && !is_sign && !is_separator) break;
      ++at_;
    }
    add(token_kind::number, begin);
  }

  void quoted(std::size_t begin) {
    const char quote = source_[at_];
    for (++at_; at_ < source_.size() && source_[at_] != quote; ++at_) {
      if (source_[at_] == '\n') return;  // unclosed
      if (source_[at_] == '\\' && at_ + 1 < source_.size() && source_[at_ + 1] != '\n') ++at_;
    }
    if (at_ < source_.size()) ++at_;
    add(token_kind::literal, begin);
  }

  void raw_string(std::size_t begin) {
    constexpr std::size_t longest = 16;
    const std::size_t open = source_.find('(', at_);
    if (open == std::string_view::npos || open - at_ - 1 > longest) return quoted(begin);
    const std::string close = ")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t end = source_.find(close, open);
    const int line = line_;
    skip_to(end == std::string_view::npos ? source_.size() : end + close.size());
    add(token_kind::literal, begin, line);
  }

  void skip_to(std::size_t end) {
    for (; at_ < end; ++at_) line_ += source_[at_] == '\n' ? 1 : 0;
  }

  void add(token_kind kind, std::size_t begin, int line = -1) {
    found_.tokens.push_back(
        {kind, source_.substr(begin, at_ - begin), begin, line < 0 ? line_ : line, file_, is_system_});
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  unsigned file_ = 0;
  bool is_system_ = false;
  std::map<std::string, unsigned> numbers_;
  std::vector<bool> are_system_{false};  // by file
  token_list found_;
};

}  // namespace

token_list tokens_of(std::string_view source) {
  return lexer(source).run();
}

std::set<std::string_view> words_in(std::string_view text) {
  std::set<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.insert(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace lab::front
