#include "harness/front/timeline/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "harness/front/output/format.hpp"
#include "harness/front/output/table.hpp"

namespace lab::front {
namespace {

// The lanes of a picture, from above: each device has one.
std::vector<std::string> lanes_of(const trace_record& trace) {
  std::vector<std::string> names{"range", "host"};
  std::set<std::string> devices;
  for (const trace_event& event : trace.events) {
    if (is_device_lane(event.lane)) devices.insert(event.lane);
  }
  if (devices.empty()) devices.insert("device");
  names.insert(names.end(), devices.begin(), devices.end());
  return names;
}

constexpr const char* kinds[] = {"launch",     "kernel",  "copy", "fill",
                                 "allocation", "release", "wait", "range"};

struct busy_time {
  double first = 0;
  double last = 0;
  double idle = 0;
  double longest_gap = 0;
  bool any = false;
};

// Of the host's events or those of all devices, which begin in their order and may overlap.
busy_time busy_time_of(const trace_record& trace, bool of_devices) {
  busy_time found;
  for (const trace_event& event : trace.events) {
    if (of_devices ? !is_device_lane(event.lane) : event.lane != "host") continue;
    const auto begin = static_cast<double>(event.begin);
    const auto end = static_cast<double>(event.end);
    if (!found.any) found.first = found.last = begin;
    found.any = true;
    const double gap = std::max(begin - found.last, 0.0);
    found.idle += gap;
    found.longest_gap = std::max(found.longest_gap, gap);
    found.last = std::max(found.last, end);
  }
  return found;
}

std::string time_or_dash(double nanoseconds) {
  return nanoseconds > 0 ? humanised_time(nanoseconds) : "-";
}

std::string name_after_slash(const std::string& path) {
  return path.substr(path.find('/') + 1);
}

// A kernel without its namespaces, template arguments and parameters: "write_kernel" of
// "lab::redact::(anonymous namespace)::write_kernel<int>(...)". Other names stay as they are.
std::string short_name(const trace_event& event) {
  if (event.name.find("::") == std::string::npos) return event.name;
  std::string name = event.name;
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  for (std::size_t at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed))
    name.erase(at, unnamed.size());
  name.resize(std::min({name.find('<'), name.find('('), name.size()}));
  const std::size_t last = name.rfind("::");
  return last == std::string::npos ? name : name.substr(last + 2);
}

std::string event_text(const trace_event& event) {
  std::string text = fmt::format("{}: {}, {}", event.kind, event.name,
                                 humanised_time(static_cast<double>(event.end - event.begin)));
  if (event.bytes > 0) text += ", " + humanised_bytes(static_cast<double>(event.bytes));
  return text;
}

std::int64_t end_of(const trace_record& trace) {
  std::int64_t end = std::max<std::int64_t>(trace.host_end, 1);
  for (const trace_event& event : trace.events) end = std::max(end, event.end);
  return end;
}

constexpr const char* picture_style =
    R"(text { font: 12px sans-serif; fill: #1f2328 } .stage { font-weight: 600; font-size: 13px }
.note { fill: #59636e } .ground { fill: #f6f8fa } line { stroke: #d1d9e0 } rect { stroke: #ffffff; stroke-width: .5 }
.launch, .kernel { fill: #3b6fb6 } .copy { fill: #228833 } .fill { fill: #66aa77 } .allocation { fill: #aa3377 }
.release { fill: #cc88aa } .wait { fill: #bc4c00 } .range { fill: #8c959f }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .note { fill: #9198a1 } .ground { fill: #151b23 } line { stroke: #3d444d } rect { stroke: #0d1117 }
.launch, .kernel { fill: #6ca4ec } .wait { fill: #f0883e } .copy { fill: #56b870 } .allocation { fill: #d670a6 } })";

// Steps of 1, 2 or 5 times a power of ten, about five of them.
double tick_step(double span) {
  const double rough = span / 5;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

// A picture of launches one below the other, drawn from above, whose width is `span` nanoseconds.
class timeline_picture {
 public:
  explicit timeline_picture(double span) : span_(span) {}

  // A heading, and a row for each lane that has events.
  void add(const stage_timeline& stage) {
    const timeline_figures figures = figures_of(stage.trace);
    body_ += fmt::format("<text class=\"stage\" x=\"{}\" y=\"{}\">{}: {} launches, {} waits</text>\n", left,
                         top_ + 12, escaped_xml(stage.stage), figures.launches, figures.waits);
    top_ += heading;
    for (const std::string& lane : lanes_of(stage.trace)) add_lane(stage.trace, lane);
    top_ += 10;
  }

  void add_ticks() {
    for (double tick = 0; tick <= span_; tick += tick_step(span_)) {
      body_ += fmt::format(
          "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text class=\"note\" x=\"{0:.1f}\" "
          "y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
          x_of(tick), top_ - 6, top_, top_ + 14, tick == 0 ? "0" : humanised_time(tick));
    }
    top_ += 34;
  }

  void add_legend() {
    double at = left;
    for (const char* kind : kinds) {
      body_ += fmt::format(
          "<rect class=\"{0}\" x=\"{1}\" y=\"{2}\" width=\"12\" height=\"12\"/><text x=\"{3}\" "
          "y=\"{4}\">{0}</text>\n",
          kind, at, top_ - 10, at + 16, top_);
      at += 95;
    }
  }

  void add_note(const std::string& note) {
    top_ += 20;
    body_ += fmt::format("<text class=\"note\" x=\"{}\" y=\"{}\">{}</text>\n", left, top_, note);
  }

  [[nodiscard]] std::string text() const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"timeline "
        "of "
        "a launch\">\n<style>\n{}\n</style>\n{}</svg>\n",
        left + width + 40, top_ + 14, picture_style, body_);
  }

 private:
  static constexpr double left = 70, width = 900, lane_height = 26, bar = 20, heading = 26, least = 1.5;

  [[nodiscard]] double x_of(double time) const { return left + width * time / span_; }

  void add_lane(const trace_record& trace, const std::string& lane) {
    std::string bars;
    for (const trace_event& event : trace.events) {
      if (event.lane == lane) bars += bar_of(event);
    }
    if (bars.empty()) return;
    body_ += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><rect class=\"ground\" x=\"{}\" y=\"{}\" "
        "width=\"{}\" height=\"{}\"/>\n",
        left - 8, top_ + 14, lane, left, top_, width, bar);
    body_ += bars;
    top_ += lane_height;
  }

  [[nodiscard]] std::string bar_of(const trace_event& event) const {
    const bool is_known = std::find(std::begin(kinds), std::end(kinds), event.kind) != std::end(kinds);
    return fmt::format(
        "<rect class=\"{}\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"><title>{}</title></rect>\n",
        is_known ? event.kind : "range", x_of(static_cast<double>(event.begin)), top_,
        std::max(width * static_cast<double>(event.end - event.begin) / span_, least), bar,
        escaped_xml(event_text(event)));
  }

  double span_;
  double top_ = 12;
  std::string body_;
};

}  // namespace

timeline_figures figures_of(const trace_record& trace) {
  timeline_figures figures;
  for (const trace_event& event : trace.events) {
    if (event.lane != "host") continue;
    if (event.kind == "launch") ++figures.launches;
    if (event.kind == "copy") ++figures.copies;
    if (event.kind == "fill") ++figures.fills;
    if (event.kind == "allocation") ++figures.allocations;
    if (event.kind == "release") ++figures.releases;
    if (event.kind != "wait") continue;
    ++figures.waits;
    figures.waiting_time += static_cast<double>(event.end - event.begin);
  }
  figures.host_time = static_cast<double>(trace.host_end);
  const busy_time device = busy_time_of(trace, true);
  figures.device_time = device.last - device.first;
  figures.device_idle = device.idle;
  figures.longest_gap = trace.emulated ? busy_time_of(trace, false).longest_gap : device.longest_gap;
  return figures;
}

std::string figures_table(const std::vector<stage_timeline>& stages) {
  const bool emulated =
      std::any_of(stages.begin(), stages.end(), [](const auto& stage) { return stage.trace.emulated; });
  table_rows rows{{""},      {"launches"},    {"waits"},    {"copies"},
                  {"fills"}, {"allocations"}, {"releases"}, {"until the launch function returned"}};
  if (emulated) {
    rows.push_back({"longest gap between calls"});
  } else {
    for (const char* name :
         {"of it waiting", "device: first to last work", "device: of it idle", "device: longest gap"})
      rows.push_back({name});
  }
  for (const auto& stage : stages) {
    const timeline_figures figures = figures_of(stage.trace);
    std::vector<std::string> cells{name_after_slash(stage.stage)};
    for (const int count : {figures.launches, figures.waits, figures.copies, figures.fills,
                            figures.allocations, figures.releases})
      cells.push_back(std::to_string(count));
    cells.push_back(time_or_dash(figures.host_time));
    if (!emulated) {
      for (const double time : {figures.waiting_time, figures.device_time, figures.device_idle})
        cells.push_back(time_or_dash(time));
    }
    cells.push_back(time_or_dash(figures.longest_gap));
    for (std::size_t row = 0; row < rows.size(); ++row) rows[row].push_back(cells[row]);
  }
  return aligned_text(rows, {alignment::left, alignment::right}, "  ");
}

std::string events_table(const stage_timeline& stage) {
  constexpr std::size_t widest_name = 60;
  table_rows rows{{"begin", "time", "gap before", "lane", "what", "bytes", "name"}};
  std::map<std::string, std::int64_t> last;
  for (const trace_event& event : stage.trace.events) {
    const auto before = last.find(event.lane);
    const bool has_gap = event.lane != "range" && before != last.end() && event.begin > before->second;
    rows.push_back({humanised_time(static_cast<double>(event.begin)),
                    humanised_time(static_cast<double>(event.end - event.begin)),
                    has_gap ? humanised_time(static_cast<double>(event.begin - before->second)) : "-",
                    event.lane, event.kind,
                    event.bytes > 0 ? humanised_bytes(static_cast<double>(event.bytes)) : "",
                    shortened(short_name(event), widest_name)});
    last[event.lane] = std::max(last[event.lane], event.end);
  }
  return aligned_text(rows,
                      {alignment::right, alignment::right, alignment::right, alignment::left, alignment::left,
                       alignment::right, alignment::left},
                      "  ");
}

nlohmann::json perfetto_json(const stage_timeline& stage) {
  auto events = nlohmann::json::array();
  const std::string clock = stage.trace.emulated ? " (emulator, host times)" : "";
  events.push_back(
      {{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", stage.stage + clock}}}});
  const std::vector<std::string> names = lanes_of(stage.trace);
  for (std::size_t lane = 0; lane < names.size(); ++lane) {
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", 1},
                      {"tid", lane + 1},
                      {"args", {{"name", names[lane]}}}});
  }
  constexpr double microsecond = 1e3;
  for (const trace_event& event : stage.trace.events) {
    const auto lane = std::find(std::begin(names), std::end(names), event.lane);
    nlohmann::json one{{"name", event.name},
                       {"cat", event.kind},
                       {"ph", "X"},
                       {"pid", 1},
                       {"tid", lane - std::begin(names) + 1},
                       {"ts", static_cast<double>(event.begin) / microsecond},
                       {"dur", static_cast<double>(event.end - event.begin) / microsecond}};
    if (event.bytes > 0) one["args"] = {{"bytes", event.bytes}};
    events.push_back(std::move(one));
  }
  return {{"traceEvents", events}, {"displayTimeUnit", "ns"}};
}

std::string timeline_svg(const std::vector<stage_timeline>& stages) {
  double span = 1;
  for (const auto& stage : stages) span = std::max(span, static_cast<double>(end_of(stage.trace)));
  timeline_picture picture(span);
  for (const auto& stage : stages) picture.add(stage);
  picture.add_ticks();
  picture.add_legend();
  const bool emulated =
      std::any_of(stages.begin(), stages.end(), [](const auto& stage) { return stage.trace.emulated; });
  if (emulated) {
    picture.add_note("The emulator's: host times, and a kernel runs within the call that launches it.");
  }
  return picture.text();
}

void to_json(nlohmann::json& json, const stage_timeline& stage) {
  const timeline_figures figures = figures_of(stage.trace);
  json = {{"stage", stage.stage},         {"launches", figures.launches},
          {"waits", figures.waits},       {"copies", figures.copies},
          {"fills", figures.fills},       {"allocations", figures.allocations},
          {"releases", figures.releases}, {"trace", stage.trace}};
}

}  // namespace lab::front
