#include "harness/front/draw/block_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "harness/front/draw/svg.hpp"
#include "harness/front/output/format.hpp"

namespace lab::front {
namespace {

constexpr std::size_t longest_loop = 16;  // phases that are looked at as one round
constexpr std::size_t most_phases = 24, most_activities = 10;

// In pixels.
constexpr double threads_left = 104, threads_width = 400, text_left = 520, right = 936;
constexpr double activity_height = 17, bar_height = 11;

bool same_activity(const activity_record& a, const activity_record& b) {
  return std::tie(a.at.file, a.at.line, a.at.space, a.at.operation, a.at.requests, a.at.units, a.threads) ==
         std::tie(b.at.file, b.at.line, b.at.space, b.at.operation, b.at.requests, b.at.units, b.threads);
}

bool same_phase(const std::vector<activity_record>& a, const std::vector<activity_record>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_activity);
}

std::size_t times_of(const std::vector<std::vector<activity_record>>& phases, std::size_t first,
                     std::size_t length) {
  std::size_t end = first + length;
  while (end < phases.size() && same_phase(phases[end], phases[end - length])) ++end;
  return (end - first) / length;
}

paint paint_of(const access_line_record& at) {
  if (at.operation == "atomic") return paint::atomic;
  if (at.space == "global") return at.operation == "load" ? paint::global_load : paint::global_store;
  return at.operation == "load" ? paint::shared_load : paint::shared_store;
}

std::string base_name(const std::string& file) {
  return file.substr(file.rfind('/') + 1);
}

// "44  shared load, 32 wavefronts"; the file where it is not the stage's own.
std::string words_of(const activity_record& activity) {
  constexpr std::size_t longest = 52;  // columns that leave room for the bytes
  const access_line_record& at = activity.at;
  const std::string file = base_name(at.file);
  const std::string location =
      file == "stage.cu" ? std::to_string(at.line) : fmt::format("{}:{}", file, at.line);
  const double each =
      static_cast<double>(at.units) / static_cast<double>(std::max<std::int64_t>(at.requests, 1));
  return shortened(fmt::format("{}  {} {}, {:.3g} {}{}", location, at.space, at.operation, each,
                               at.space == "global" ? "sector" : "wavefront", each == 1 ? "" : "s"),
                   longest);
}

// "4096–8192"
std::string extent_of(const activity_record& activity) {
  return fmt::format("{}–{}", activity.lowest, activity.end);
}

double thread_x(std::int64_t thread, std::int64_t threads) {
  return threads_left + threads_width * static_cast<double>(thread) /
                            static_cast<double>(std::max<std::int64_t>(threads, 1));
}

void draw_activity(svg& to, double y, const activity_record& activity, std::int64_t threads) {
  to.rect(threads_left, y, threads_width, bar_height, paint::empty);
  for (const auto& [first, last] : activity.threads) {
    const double x = thread_x(first, threads);
    to.rect(x, y, std::max(thread_x(last + 1, threads) - x, 1.5), bar_height, paint_of(activity.at));
  }
  const bool dear = activity.at.units > activity.at.least + activity.at.requests;
  to.text(text_left, y + 10, words_of(activity), dear ? ink::costly : ink::small);
  to.text(right, y + 10, extent_of(activity), ink::small, anchor::end);
}

// Returns where the next phase begins.
double draw_phase(svg& to, double y, const std::vector<activity_record>& activities, const std::string& name,
                  std::int64_t threads) {
  to.text(picture_left, y + 10, name, ink::note);
  const std::size_t shown = std::min(activities.size(), most_activities);
  for (std::size_t k = 0; k < shown; ++k, y += activity_height) draw_activity(to, y, activities[k], threads);
  if (activities.empty()) {
    to.text(threads_left, y + 10, "no access of memory", ink::small);
    y += activity_height;
  }
  if (shown < activities.size()) {
    to.text(
        text_left, y + 10,
        fmt::format("and {}", counted(static_cast<std::int64_t>(activities.size() - shown), "further line")),
        ink::small);
    y += activity_height;
  }
  return y;
}

void draw_axis(svg& to, double y, std::int64_t threads) {
  to.text(threads_left, y, "thread 0", ink::small);
  to.text(threads_left + threads_width, y, std::to_string(threads - 1), ink::small, anchor::end);
  to.text(text_left, y, "line  access, and what a request costs", ink::small);
  to.text(right, y, "bytes of the array", ink::small, anchor::end);
}

void draw_legend(svg& to, double y, const accesses_record& accesses) {
  const std::pair<paint, const char*> all[] = {{paint::global_load, "global load"},
                                               {paint::global_store, "global store"},
                                               {paint::shared_load, "shared load"},
                                               {paint::shared_store, "shared store"},
                                               {paint::atomic, "atomic"}};
  std::vector<std::pair<paint, std::string>> used;
  for (const auto& [with, words] : all) {
    const bool is_used =
        std::any_of(accesses.lines.begin(), accesses.lines.end(),
                    [with = with](const access_line_record& at) { return paint_of(at) == with; });
    if (is_used) used.emplace_back(with, words);
  }
  to.legend(picture_left, y, used);
}

}  // namespace

std::vector<phase_loop> folded(const std::vector<std::vector<activity_record>>& phases) {
  std::vector<phase_loop> loops;
  for (std::size_t first = 0; first < phases.size();) {
    phase_loop best{first, 1, 1};
    for (std::size_t length = 1; length <= longest_loop && first + length <= phases.size(); ++length) {
      const std::size_t times = times_of(phases, first, length);
      if (times > 1 && times * length > best.times * best.length) best = {first, length, times};
    }
    loops.push_back(best);
    first += best.length * best.times;
  }
  return loops;
}

std::string block_text(const accesses_record& accesses) {
  return fmt::format("block {}, one of {}, {}: {} between barriers", accesses.block, accesses.blocks,
                     counted(accesses.threads, "thread"), counted(accesses.phase_count, "phase"));
}

std::string block_picture(const picture_heading& heading, const accesses_record& accesses) {
  svg to(fmt::format("{}, {}", heading.title, block_text(accesses)));
  to.headline(30, right, heading.title, heading.parameters);
  to.text(picture_left, 54, block_text(accesses), ink::note);
  draw_axis(to, 80, accesses.threads);
  double y = 90;
  std::size_t drawn = 0, told = 0;
  for (const phase_loop& loop : folded(accesses.phases)) {
    if (drawn + loop.length > most_phases && drawn > 0) break;
    const double top = y;
    for (std::size_t k = 0; k < loop.length; ++k, ++drawn) {
      const std::size_t phase = loop.first + k;
      if (phase > 0) {
        to.rule(picture_left, y, right, y);
        y += 5;
      }
      y = draw_phase(to, y, accesses.phases[phase], fmt::format("phase {}", phase), accesses.threads) + 2;
    }
    told += loop.length * loop.times;
    if (loop.times == 1) continue;
    to.rect(picture_left - 8, top + 2, 3, y - top - 4, paint::used);
    const std::string these = loop.length == 1
                                  ? fmt::format("phase {}", loop.first)
                                  : fmt::format("phases {} to {}", loop.first, loop.first + loop.length - 1);
    to.text(picture_left, y + 10,
            fmt::format("{}: {} times in all, up to phase {}", these, loop.times, told - 1), ink::warning);
    y += activity_height + 2;
  }
  if (told < static_cast<std::size_t>(accesses.phase_count)) {
    to.rule(picture_left, y, right, y);
    y += activity_height;
    to.text(picture_left, y,
            fmt::format("and {}",
                        counted(accesses.phase_count - static_cast<std::int64_t>(told), "further phase")),
            ink::small);
  }
  to.rule(picture_left, y + 2, right, y + 2);
  y += 26;
  draw_legend(to, y, accesses);
  to.text(right, y, "a dashed line is a block barrier", ink::small, anchor::end);
  return to.document(y + 18);
}

}  // namespace lab::front
