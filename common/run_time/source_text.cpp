#include "common/run_time/source_text.hpp"

#include <algorithm>
#include <charconv>

#include "common/utf8.hpp"

namespace lab::run_time {
namespace {

constexpr std::string_view white_space = " \t\r\n\v\f";

[[noreturn]] void refuse_byte(const std::string& text, std::size_t at, const std::string& file_name,
                              const std::string& what) {
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  const std::size_t break_before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t line_begin = break_before == std::string::npos ? 0 : break_before + 1;
  const std::size_t column = at - line_begin + 1;
  throw error_at(file_name, static_cast<int>(line), static_cast<int>(column),
                 "column " + std::to_string(column) + ": " + what);
}

}  // namespace

compile_error error_at(const std::string& file_name, int line, int column, const std::string& message) {
  const std::string name = escaped(file_name);
  return compile_error(name + "(" + std::to_string(line) + "): error: " + message,
                       {{name, line, column, severity::error, message}});
}

void require_text(const std::string& text, const std::string& file_name) {
  if (file_name.empty()) throw compile_error("the source's file name is empty", {});
  if (escaped(file_name) != file_name)
    throw compile_error(
        "the source's file name has control characters or is not UTF-8: " + escaped(file_name), {});
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos)
    refuse_byte(text, nul, file_name, "a NUL, which no source holds");
  if (const auto bad = first_invalid_utf8(text))
    refuse_byte(text, *bad, file_name, "the byte " + escaped(text.substr(*bad, 1)) + " is not UTF-8");
}

void require_words(const std::vector<std::string>& words, const char* what) {
  for (const std::string& word : words) {
    if (word.empty()) throw compile_error(std::string(what) + " is empty", {});
    if (word.find('\0') != std::string::npos)
      throw compile_error(std::string(what) + " holds a NUL: " + escaped(word), {});
  }
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(white_space) == std::string_view::npos;
}

int last_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(white_space);
  if (end == std::string_view::npos) return 1;
  return static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n')) +
         1;
}

std::string in_string_literal(std::string_view text) {
  std::string result;
  for (const char character : text) {
    if (character == '"' || character == '\\') result += '\\';
    result += character;
  }
  return result;
}

std::optional<version> ptx_version(std::string_view ptx) {
  constexpr std::string_view directive = ".version";
  const std::size_t at = ptx.find(directive);
  if (at == std::string_view::npos) return std::nullopt;
  ptx.remove_prefix(at + directive.size());
  ptx.remove_prefix(std::min(ptx.find_first_not_of(white_space), ptx.size()));
  version found;
  const char* const end = ptx.data() + ptx.size();
  const auto major = std::from_chars(ptx.data(), end, found.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, found.minor);
  if (minor.ec != std::errc{}) return std::nullopt;
  return found;
}

}  // namespace lab::run_time
