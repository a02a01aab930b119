#include "harness/front/draw/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/front/output/format.hpp"
#include "harness/front/output/regular_expression.hpp"

namespace lab::front {
namespace {

constexpr const char* paint_names[] = {"frame",       "idle",         "lane",  "used",        "vain",
                                       "served",      "serialised",   "empty", "global-load", "global-store",
                                       "shared-load", "shared-store", "atomic"};
constexpr const char* ink_names[] = {"title", "code", "note", "small", "cell", "warning", "small costly"};
constexpr const char* anchor_names[] = {"", " middle", " end"};
// About as wide as a character of each ink is, in pixels.
constexpr double character_widths[] = {8.8, 7.6, 6.6, 5.7, 5.3, 7.1, 6.2};
constexpr double margin = 8;  // that no text reaches into

// Each kind differs from the others in lightness too, and what is hatched says so without colour.
constexpr const char* style_sheet = R"svg(<style>
svg { --page: #ffffff; --ink: #1f2328; --muted: #59636e; --frame: #8c959f; --faint: #eaeef2;
  --used: #0969da; --served: #b6e3ff; --vain: #ffddb0; --hatch: #bc4c00;
  --gl: #0969da; --gs: #8250df; --sl: #2da44e; --ss: #116329; --at: #cf222e }
@media (prefers-color-scheme: dark) { svg { --page: #0d1117; --ink: #f0f6fc; --muted: #9198a1; --frame: #6e7681;
  --faint: #21262d; --used: #58a6ff; --served: #12467f; --vain: #4a2a10; --hatch: #f0883e;
  --gl: #58a6ff; --gs: #bc8cff; --sl: #56d364; --ss: #2ea043; --at: #ff7b72 } }
text { font: 13px system-ui, sans-serif; fill: var(--ink); white-space: pre }
.title { font-size: 16px; font-weight: 600 } .code { font: 12.5px ui-monospace, monospace }
.small { font-size: 11px; fill: var(--muted) } .cell { font-size: 9.5px } .warning { fill: var(--hatch); font-weight: 600 }
.costly { fill: var(--hatch); font-weight: 600 }
.middle { text-anchor: middle } .end { text-anchor: end }
.page { fill: var(--page) } .frame { fill: none; stroke: var(--frame) } .empty { fill: var(--faint) }
.idle { fill: none; stroke: var(--frame); stroke-dasharray: 2 2 }
.lane { fill: var(--served); stroke: var(--used) } .used { fill: var(--used) }
.served { fill: var(--served); stroke: var(--used); stroke-width: .6 }
.vain { fill: url(#hatch) } .serialised { fill: url(#hatch); stroke: var(--hatch); stroke-width: .6 }
.global-load { fill: var(--gl) } .global-store { fill: var(--gs) } .shared-load { fill: var(--sl) }
.shared-store { fill: var(--ss) } .atomic { fill: var(--at) }
.wire { fill: none; stroke: var(--used); stroke-width: 1; opacity: .7 } .rule { stroke: var(--frame); stroke-dasharray: 4 3 }
.ground { fill: var(--vain) } .stripe { stroke: var(--hatch); stroke-width: 1.2 }
</style>
<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground" width="5" height="5"/><path class="stripe" d="M0 0V5"/></pattern>
)svg";

// Programs that draw SVG know colours, and not all of them variables: librsvg, Inkscape and what LaTeX uses
// take the first declaration and drop the second.
std::string with_plain_colours(const std::string& style) {
  std::string text = style;
  for (const auto& variable :
       all_matches(style.substr(0, style.find("@media")), "(--[a-z]+: #[0-9a-f]{6})")) {
    const std::size_t colon = variable.find(':');
    text = replaced(text, fmt::format("([a-z]+): (var\\({}\\))", variable.substr(0, colon)),
                    fmt::format("$1: {}; $1: $2", variable.substr(colon + 2)));
  }
  return text;
}

double width_of(const std::string& words, ink with) {
  return character_widths[static_cast<std::size_t>(with)] * static_cast<double>(display_width(words));
}

// To a tenth of a pixel.
std::string number(double value) {
  std::string text = fmt::format("{:.1f}", std::abs(value) < 0.05 ? 0.0 : value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

}  // namespace

void svg::rect(double x, double y, double width, double height, paint with, double radius) {
  body_ += fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}"{}/>)"
                       "\n",
                       paint_names[static_cast<std::size_t>(with)], number(x), number(y), number(width),
                       number(height), radius > 0 ? fmt::format(R"( rx="{}")", number(radius)) : "");
}

void svg::wire(double x, double y, double to_x, double to_y) {
  const double bend = (to_y - y) / 2;
  body_ += fmt::format(R"(<path class="wire" d="M{} {}C{} {} {} {} {} {}"/>)"
                       "\n",
                       number(x), number(y), number(x), number(y + bend), number(to_x), number(to_y - bend),
                       number(to_x), number(to_y));
}

void svg::rule(double x, double y, double to_x, double to_y) {
  body_ += fmt::format(R"(<path class="rule" d="M{} {}L{} {}"/>)"
                       "\n",
                       number(x), number(y), number(to_x), number(to_y));
}

void svg::text(double x, double y, const std::string& words, ink with, anchor at) {
  const double each = character_widths[static_cast<std::size_t>(with)];
  const std::string shown = shortened(words, static_cast<std::size_t>((picture_width - 2 * margin) / each));
  const double width = width_of(shown, with);
  const double before = at == anchor::start ? 0 : at == anchor::middle ? width / 2 : width;
  x = std::clamp(x, margin + before, picture_width - margin - width + before);
  body_ += fmt::format(R"(<text class="{}{}" x="{}" y="{}">{}</text>)"
                       "\n",
                       ink_names[static_cast<std::size_t>(with)], anchor_names[static_cast<std::size_t>(at)],
                       number(x), number(y), escaped_xml(cleaned(shown)));
}

void svg::headline(double y, double right, const std::string& title, const std::string& aside) {
  text(picture_left, y, title, ink::title);
  const double room = right - picture_left - width_of(title, ink::title) - 16;
  const auto most =
      static_cast<std::size_t>(std::max(0.0, room / character_widths[static_cast<std::size_t>(ink::small)]));
  if (most > 3) text(right, y, shortened(aside, most), ink::small, anchor::end);
}

void svg::legend(double x, double y, const std::vector<std::pair<paint, std::string>>& entries) {
  for (const auto& [with, words] : entries) {
    rect(x, y - 10, 12, 12, with);
    text(x + 18, y, words, ink::small);
    x += 40 + 6.2 * static_cast<double>(display_width(words));
  }
}

std::string svg::document(double height) const {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" role="img" aria-label="{}">)"
      "\n{}"
      R"(<rect class="page" width="{}" height="{}" rx="8"/>)"
      "\n{}</svg>\n",
      number(picture_width), number(height), escaped_xml(cleaned(label_)), with_plain_colours(style_sheet),
      number(picture_width), number(height), body_);
}

}  // namespace lab::front
