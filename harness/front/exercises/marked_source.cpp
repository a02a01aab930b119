#include "harness/front/exercises/marked_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/front/emulate/tokens.hpp"
#include "harness/front/exercises/written_part.hpp"
#include "harness/front/output/format.hpp"

namespace lab::front {
namespace {

constexpr std::string_view opening = "// exercise:";
constexpr std::string_view closing = "// end";

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

// The name that a line opens a region with; nothing where it opens none.
std::optional<std::string> opened(const std::string& line) {
  const std::string text = trimmed(line);
  if (text.rfind(opening, 0) != 0) return std::nullopt;
  return trimmed(std::string_view(text).substr(opening.size()));
}

bool closes(const std::string& line) {
  return trimmed(line) == closing;
}

std::string joined(const std::vector<std::string>& lines, std::size_t first, std::size_t end) {
  std::string text;
  for (std::size_t k = first; k < end; ++k) text += lines[k - 1] + "\n";
  return text;
}

const marked_region& region_named(const std::vector<marked_region>& regions, const std::string& name) {
  const auto found = std::find_if(regions.begin(), regions.end(),
                                  [&](const marked_region& one) { return one.name == name; });
  if (found == regions.end())
    throw source_error(0, fmt::format("the marker '// exercise: {}' is missing", name));
  return *found;
}

// Line by line, what stands outside of the regions: the markers included, each with its number.
std::vector<std::pair<std::size_t, std::string>> outside_of(const std::vector<std::string>& lines,
                                                            const std::vector<marked_region>& regions) {
  std::vector<std::pair<std::size_t, std::string>> outside;
  for (std::size_t line = 1; line <= lines.size(); ++line) {
    const bool inside = std::any_of(regions.begin(), regions.end(), [&](const marked_region& one) {
      return line >= one.first && line < one.end;
    });
    const std::string text = trimmed(lines[line - 1]);
    if (!inside && !text.empty()) outside.emplace_back(line, text);
  }
  return outside;
}

std::size_t first_difference(const std::vector<std::pair<std::size_t, std::string>>& found,
                             const std::vector<std::pair<std::size_t, std::string>>& wanted) {
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (k >= wanted.size() || found[k].second != wanted[k].second) return found[k].first;
  }
  return found.size() < wanted.size() ? std::max<std::size_t>(1, found.empty() ? 1 : found.back().first) : 0;
}

std::string indentation_of(const std::string& line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

bool is_comment(const std::string& line) {
  return trimmed(line).rfind("//", 0) == 0;
}

// Removes the lines of a comment from `first` (counted from 0) on.
void remove_comment(std::vector<std::string>& lines, std::size_t first) {
  std::size_t end = first;
  while (end < lines.size() && is_comment(lines[end]) && !opened(lines[end]) && !closes(lines[end])) ++end;
  lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(first),
              lines.begin() + static_cast<std::ptrdiff_t>(end));
}

// Removes the comment that begins so: its lines, or what stands behind code.
void remove_comment(std::vector<std::string>& lines, const std::string& beginning) {
  const std::string wanted = "// " + beginning;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const std::size_t at = lines[k].find(wanted);
    if (at == std::string::npos) continue;
    if (is_comment(lines[k])) {
      if (trimmed(lines[k]).rfind(wanted, 0) != 0) continue;
      return remove_comment(lines, k);
    }
    lines[k].erase(at == 0 ? 0 : lines[k].find_last_not_of(" \t", at - 1) + 1);
    return;
  }
  throw source_error(0, fmt::format("no comment begins '{}'", wanted));
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
    begin = end + 1;
  }
  return lines;
}

std::vector<marked_region> find_regions(const std::vector<std::string>& lines) {
  std::vector<marked_region> regions;
  bool open = false;
  for (std::size_t line = 1; line <= lines.size(); ++line) {
    if (const auto name = opened(lines[line - 1])) {
      if (open)
        throw source_error(line, fmt::format("'// exercise: {}' begins before the '// end' of '{}'", *name,
                                             regions.back().name));
      for (const marked_region& other : regions) {
        if (other.name == *name)
          throw source_error(line, fmt::format("'// exercise: {}' stands twice", *name));
      }
      regions.push_back({.name = *name, .first = line + 1});
      open = true;
    } else if (open && closes(lines[line - 1])) {
      regions.back().end = line;
      open = false;
    }
  }
  if (open) {
    throw source_error(regions.back().first - 1,
                       fmt::format("'// exercise: {}' has no '// end'", cleaned(regions.back().name, 60)));
  }
  return regions;
}

std::vector<std::string> cut(const std::vector<std::string>& solution, const exercise& exercise) {
  const std::vector<marked_region> regions = find_regions(solution);
  for (const exercise_region& one : exercise.regions) (void)region_named(regions, one.name);
  std::vector<std::string> lines;
  for (std::size_t line = 1; line <= solution.size(); ++line) {
    const std::string& text = solution[line - 1];
    const auto region = std::find_if(regions.begin(), regions.end(), [&](const marked_region& one) {
      return line + 1 >= one.first && line <= one.end;
    });
    if (region == regions.end()) {
      lines.push_back(text);
      continue;
    }
    const auto own = std::find_if(exercise.regions.begin(), exercise.regions.end(),
                                  [&](const exercise_region& one) { return one.name == region->name; });
    const bool is_marker = line + 1 == region->first || line == region->end;
    if (own == exercise.regions.end()) {
      if (!is_marker) lines.push_back(text);
      continue;
    }
    if (!is_marker) continue;
    lines.push_back(text);
    if (line == region->end) continue;
    const std::string indentation = indentation_of(text);
    lines.push_back(fmt::format("{}// {} this part: about {} line{}.", indentation,
                                own->start.empty() ? "Write" : "Change", own->lines,
                                own->lines == 1 ? "" : "s"));
    for (const std::string& start : own->start) lines.push_back(start.empty() ? start : indentation + start);
  }
  if (!lines.empty() && is_comment(lines.front())) remove_comment(lines, std::size_t{0});
  for (const std::string& beginning : exercise.cut_comments) remove_comment(lines, beginning);
  return lines;
}

written_source put_in(const std::vector<std::string>& student, const std::vector<std::string>& solution,
                      const exercise& exercise, const std::string& file) {
  const auto own_regions = [&](const std::vector<std::string>& lines) {
    const std::vector<marked_region> all = find_regions(lines);
    std::vector<marked_region> own;
    for (const exercise_region& one : exercise.regions) own.push_back(region_named(all, one.name));
    return own;
  };
  const std::vector<marked_region> written = own_regions(student);
  const std::vector<std::string> blanked = cut(solution, exercise);
  // The whole solution, with the markers of other exercises, is no change either.
  const bool is_whole =
      first_difference(outside_of(student, written), outside_of(solution, own_regions(solution))) == 0;
  const std::vector<std::string>& around = is_whole ? solution : blanked;
  std::vector<marked_region> slots = own_regions(around);
  const word_set words = words_for(exercise, joined(solution, 1, solution.size() + 1));
  std::sort(slots.begin(), slots.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  written_source result{.text = line_directive(1, file)};
  std::size_t from = 1;
  for (const marked_region& slot : slots) {
    const marked_region& own = region_named(written, slot.name);
    result.text += joined(around, from, slot.first);
    const std::string part = admitted_part(joined(student, own.first, own.end), own.first, slot.name, words);
    result.text += line_directive(own.first, file) + part + line_directive(own.end, file);
    from = slot.end;
  }
  result.text += joined(around, from, around.size() + 1);
  if (!is_whole) {
    result.changed_outside = first_difference(outside_of(student, find_regions(student)),
                                              outside_of(blanked, find_regions(blanked)));
  }
  return result;
}

std::optional<std::string> compiled_line(const std::string& text, std::size_t line) {
  std::size_t number = 1;
  for (const std::string& one : lines_of(text)) {
    if (one.rfind("#line ", 0) == 0) {
      number = std::stoull(one.substr(6));
    } else if (number++ == line) {
      return one;
    }
  }
  return std::nullopt;
}

std::string line_directive(std::size_t line, const std::string& file) {
  std::string quoted;
  for (const char c : file) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return fmt::format("#line {} \"{}\"\n", line, quoted);
}

std::string without_kernel_bodies(const std::string& source, int& emptied) {
  emptied = 0;
  std::string result;
  std::size_t kept = 0;
  const token_list found = tokens_of(source);
  const std::vector<token>& tokens = found.tokens;
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (tokens[k].text != "__global__") continue;
    int depth = 0;
    std::size_t begin = 0;
    for (; k < tokens.size(); ++k) {
      if (tokens[k].text == ";" && depth == 0) break;  // a declaration
      if (tokens[k].text == "{" && depth++ == 0) begin = tokens[k].offset + 1;
      if (tokens[k].text != "}" || --depth != 0) continue;
      result += source.substr(kept, begin - kept) + "\n  // Write the kernel.\n";
      kept = tokens[k].offset;
      ++emptied;
      break;
    }
  }
  return result + source.substr(kept);
}

}  // namespace lab::front
