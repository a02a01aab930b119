#include "harness/front/exercises/shown_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "common/file.hpp"
#include "harness/front/exercises/marked_source.hpp"
#include "harness/front/exercises/written_part.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/output/regular_expression.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

// Longer lines have nothing to show on a terminal.
constexpr std::size_t longest_line = 300;

std::int64_t number_at(const std::string& text, std::size_t at) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
  return end == at || end - at > 9 ? 0 : std::atoll(text.substr(at, end - at).c_str());
}

}  // namespace

shown_line read_line(const fs::path& file, const std::string& name, std::int64_t line) {
  std::error_code error;
  if (line <= 0 || !fs::is_regular_file(file, error)) return {};
  const std::vector<std::string> lines = lines_of(read_text(file));
  if (static_cast<std::size_t>(line) > lines.size()) return {};
  const std::string& text = lines[static_cast<std::size_t>(line) - 1];
  return {.file = name, .line = line, .code = cleaned(without_tabs(text), longest_line)};
}

shown_line line_in(const std::string& message, const std::string& own, const fs::path& own_file) {
  for (std::size_t at = message.find(own + ":"); !own.empty() && at != std::string::npos;
       at = message.find(own + ":", at + 1)) {
    // "stage.cu" also ends the names of others.
    const bool is_whole = at == 0 || message[at - 1] == ' ' || message[at - 1] == '(';
    const std::int64_t line = is_whole ? number_at(message, at + own.size() + 1) : 0;
    if (line > 0) return read_line(own_file, own, line);
  }
  const std::string location = first_match(
      message, R"((?:^|[ (])((?:stages|common)/[A-Za-z0-9_/]+\.(?:cu|cuh|hpp|cpp|h):[0-9]{1,9}))");
  if (location.empty()) return {};
  const std::size_t colon = location.rfind(':');
  const std::string name = location.substr(0, colon);
  return read_line(fs::path(LAB_SOURCE_ROOT) / name, name, number_at(location, colon + 1));
}

shown_line clipped(const shown_line& shown, std::size_t indentation, std::size_t width) {
  const std::size_t margin = indentation + std::to_string(shown.line).size() + 3;  // "18 | "
  if (width <= margin + 10 || display_width(shown.code) <= width - margin) return shown;
  const std::size_t room = width - margin;
  shown_line cut = shown;
  if (shown.column > room - 3) {
    std::size_t from = shown.column - room / 2;
    while (from < cut.code.size() && (cut.code[from] & 0xc0) == 0x80) ++from;  // whole characters
    cut.code = "..." + cut.code.substr(from);
    cut.column = shown.column - from + 3;
  }
  cut.code = shortened(cut.code, room);
  return cut;
}

std::string caret_text(const shown_line& shown, std::size_t indentation) {
  const std::string number = std::to_string(shown.line);
  const std::string margin(indentation, ' ');
  const std::size_t first = std::min(shown.code.find_first_not_of(' '), shown.code.size());
  const std::size_t at = shown.column == 0 ? first : shown.column - 1;
  std::string carets = "^";
  if (shown.column == 0) {
    const std::size_t width = display_width(shown.code);
    carets += std::string(width > first + 1 ? width - first - 1 : 0, '~');
  }
  return fmt::format("{0}{1} | {2}\n{0}{3} | {4}{5}", margin, number, shown.code,
                     std::string(number.size(), ' '), std::string(at, ' '), carets);
}

std::string without_tabs(const std::string& line) {
  std::string text;
  for (const char c : line) {
    if (c == '\t') {
      text.append(8 - display_width(text) % 8, ' ');
    } else {
      text += c;
    }
  }
  return text;
}

std::size_t column_in_written(const std::string& compiled, const std::string& written, std::size_t column) {
  std::size_t location = 0;  // in `written`
  for (std::size_t k = 0; k + 1 < column && k < compiled.size();) {
    const bool is_prefix = compiled.compare(k, own_prefix.size(), own_prefix) == 0 &&
                           written.compare(location, own_prefix.size(), own_prefix) != 0;
    if (is_prefix) {
      k += own_prefix.size();
      continue;
    }
    ++k;
    ++location;
  }
  return location + 1;
}

std::string without_scopes(const std::string& message) {
  return replaced(message, R"(lab::(?:[A-Za-z0-9_]+::)*\(anonymous namespace\)::)", "");
}

}  // namespace lab::front
