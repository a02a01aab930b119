#include "common/run_time/compiler_log.hpp"

#include <algorithm>
#include <optional>
#include <regex>

#include "common/utf8.hpp"

namespace lab::run_time {
namespace {

constexpr std::size_t line_characters = 160;   // of an excerpt of the source
constexpr std::size_t words_characters = 400;  // of a message
constexpr std::size_t excerpt_indent = 2;      // what the compiler puts before the source's line
constexpr std::string_view end_words = "At end of source";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// What says nothing to whoever wrote the source.
bool is_chatter(const std::string& line) {
  return starts_with(line, "Remark: The warnings can be suppressed") || line == "Compilation terminated." ||
         line.find(" detected in the compilation of ") != std::string::npos;
}

// Where the caret stands in a line that holds nothing else.
std::optional<std::size_t> caret_of(const std::string& line) {
  const std::size_t at = line.find('^');
  if (at == std::string::npos || line.find_first_not_of(" \t") != at || line.find_last_not_of(" \t") != at)
    return std::nullopt;
  return at;
}

// Cuts an excerpt and its caret's line to the same window around the caret. The compiler's excerpt of a very
// long line may end before the caret.
void cut_excerpt(std::string& excerpt, std::string& caret_line, std::size_t caret) {
  if (excerpt.size() <= line_characters && caret < line_characters) return;
  const std::size_t begin = caret > line_characters / 2 ? caret - line_characters / 2 : 0;
  const std::size_t end = std::min(begin + line_characters, excerpt.size());
  const std::string mark = begin > 0 ? "  ..." : "";
  excerpt =
      mark + (begin < end ? excerpt.substr(begin, end - begin) : "") + (end < excerpt.size() ? "..." : "");
  caret_line = std::string(mark.size() + caret - begin, ' ') + "^";
}

std::string positioned(const std::string& line, const std::string& end_of_source) {
  if (end_of_source.empty() || !starts_with(line, end_words)) return line;
  return end_of_source + line.substr(end_words.size());
}

severity severity_of(const std::string& word) {
  return word == "warning" ? severity::warning : word == "note" ? severity::note : severity::error;
}

// Adds the message that `line` is, if it is one: "user.cu(3): error: ...", "user.cu(3): warning #177-D: ...".
void read_message(const std::string& line, std::vector<diagnostic>& found) {
  static const std::regex shape(
      R"(^(.*)\(([0-9]{1,9})\): (?:catastrophic )?(error|warning|note)(?: #[0-9A-Za-z-]+)?: (.*)$)");
  std::smatch parts;
  if (std::regex_match(line, parts, shape))
    found.push_back({parts[1], std::stoi(parts[2]), 0, severity_of(parts[3]), parts[4]});
}

void read_caret(std::size_t caret, std::vector<diagnostic>& found) {
  if (!found.empty() && found.back().column == 0)
    found.back().column = static_cast<int>(caret - std::min(caret, excerpt_indent)) + 1;
}

}  // namespace

compiler_log read_log(std::string_view log, const std::string& end_of_source) {
  compiler_log result;
  std::vector<std::string> lines = lines_of(log.substr(0, log.find('\0')));
  bool blank = true;  // the line before: no text begins with an empty line, or has two
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (is_chatter(lines[k])) continue;
    std::string line = positioned(lines[k], end_of_source);
    const auto caret = k + 1 < lines.size() ? caret_of(lines[k + 1]) : std::nullopt;
    if (caret) {
      read_caret(*caret, result.diagnostics);
      cut_excerpt(line, lines[k + 1], *caret);
    } else {
      if (line.size() > words_characters) line = line.substr(0, words_characters) + "...";
      line = escaped(line, true);
      read_message(line, result.diagnostics);
    }
    if (line.empty() && blank) continue;
    blank = line.empty();
    result.text += escaped(line, true) + "\n";
  }
  result.text.erase(result.text.find_last_not_of('\n') + 1);
  return result;
}

}  // namespace lab::run_time
