#include "harness/front/compare/recorded_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/file.hpp"
#include "common/utf8.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/protocol.hpp"

namespace lab::front {
namespace {

// Without the name of the exception that nlohmann/json puts before its words.
std::string words_of(const std::exception& problem) {
  const std::string text = problem.what();
  const std::size_t end = text.starts_with("[json.exception.") ? text.find("] ") : std::string::npos;
  return cleaned(end == std::string::npos ? text : text.substr(end + 2), 200);
}

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uintmax_t largest_file = std::uintmax_t{256} << 20;
constexpr const char* results_schema = "kernel-lab-results";

[[noreturn]] void refuse_file(const std::string& path, const std::string& problem) {
  throw usage_error(fmt::format("{}: {}", escaped(path), problem));
}

// A member as text, whatever it is: "580.65.06", "1980", "unknown" where it is absent or null.
std::string fact(const json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end() || found->is_null()) return "unknown";
  return cleaned(found->is_string() ? found->get<std::string>() : text_of(*found));
}

conditions conditions_of(const json& run) {
  const json& device = run.at("device");
  const json kernels = run.value("kernels", json::object());
  const json options = run.value("options", json::object());
  return {{"verb", fact(run, "verb")},
          {"device", fact(device, "name")},
          {"compute capability", fact(device, "compute_capability")},
          {"driver", fact(device, "driver")},
          {"toolkit", fact(device, "toolkit")},
          {"highest SM clock (MHz)", fact(device, "sm_clock_mhz")},
          {"memory clock (MHz)", fact(device, "memory_clock_mhz")},
          {"compiler of the kernels", fact(kernels, "compiler")},
          {"flags of the kernels", fact(kernels, "flags")},
          {"seed", fact(run, "seed")},
          {"processes at once", options.contains("processes") ? fact(options, "processes") : "1"}};
}

process_samples samples_of(const json& timing) {
  auto record = timing.get<timing_record>();
  if (record.samples.empty()) throw std::invalid_argument("a timing without samples");
  for (const double sample : record.samples) {
    if (!(std::isfinite(sample) && sample > 0)) throw std::invalid_argument("a time that is not positive");
  }
  return std::move(record.samples);
}

std::string parameters_of(const json& group) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : group.at("parameters").items()) {
    parameter_value parameter = 0;
    from_json(value, parameter);
    texts.push_back(cleaned(fmt::format("{} = {}", name, parameter.text())));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

recorded_row recorded_row_of(const json& run, const json& group, const json& row) {
  recorded_row read;
  read.name = {cleaned(group.at("track").get<std::string>()), cleaned(row.at("stage").get<std::string>()),
               parameters_of(group), cleaned(group.at("l2").get<std::string>())};
  read.status = cleaned(row.at("status").get<std::string>());
  read.message = cleaned(member_or<std::string>(row, "message", ""));
  read.sources = cleaned(member_or<std::string>(row, "sources", ""));
  read.created = cleaned(run.at("created").get<std::string>());
  read.measured_under = conditions_of(run);
  const json& timing = row.at("timing");
  if (read.status != "ok" || timing.is_null()) return read;
  process_samples alone = samples_of(timing);
  const auto processes = row.find("processes");
  if (processes != row.end()) {
    for (const json& one : processes->get_ref<const json::array_t&>())
      read.processes.push_back(samples_of(one));
  }
  if (read.processes.empty()) read.processes.push_back(std::move(alone));
  if (const auto clock = optional_member<clock_record>(timing, "sm_clock_mhz"))
    read.sm_clock_mhz = clock->median;
  // How a time was taken is a condition of the row's alone.
  read.measured_under.emplace_back("method", fact(timing, "method"));
  return read;
}

json parsed(const std::string& path, const std::string& text) {
  try {
    return json::parse(text);
  } catch (const json::exception& problem) {
    refuse_file(path, fmt::format("is no JSON, or was cut short: {}", words_of(problem)));
  }
}

// The documents in a file: of a name that ends with .jsonl one a line. Throws usage_error for anything but
// JSON of a bounded size.
std::vector<json> documents_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (!error && bytes > largest_file)
    refuse_file(path, fmt::format("{} are too many for a result file; {} are read at most",
                                  humanised_bytes(static_cast<double>(bytes)),
                                  humanised_bytes(static_cast<double>(largest_file))));
  const std::string text = read_text(path);
  if (fs::path(path).extension() != ".jsonl") return {parsed(path, text)};
  std::vector<json> documents;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) documents.push_back(parsed(path, line));
  return documents;
}

// Whether a document calls itself something else that the lab writes.
bool is_other_record(const json& document) {
  if (!document.is_object()) return false;
  const auto schema = document.find("schema");
  if (schema == document.end() || !schema->is_string() || *schema == results_schema) return false;
  return schema->get<std::string>().rfind("kernel-lab-", 0) == 0;
}

std::vector<recorded_row> rows_of(const std::string& path, const json& run) {
  if (!run.is_object() || !run.contains("schema"))
    refuse_file(path, "is no result file: it has no \"schema\" (lab run --json FILE writes one)");
  if (run["schema"] != results_schema)
    refuse_file(path, fmt::format("is no result file but {}", cleaned(text_of(run["schema"]), 80)));
  if (!run.contains("version") || run["version"] != 1)
    refuse_file(path, fmt::format("is of version {}, and this program reads version 1",
                                  run.contains("version") ? cleaned(text_of(run["version"]), 40) : "none"));
  std::vector<recorded_row> rows;
  std::string location = "the head";
  try {
    for (const json& group : run.at("groups").get_ref<const json::array_t&>()) {
      for (const json& row : group.at("rows").get_ref<const json::array_t&>()) {
        location = fmt::format("row {}", rows.size() + 1);
        rows.push_back(recorded_row_of(run, group, row));
      }
    }
  } catch (const std::exception& problem) {
    refuse_file(path, fmt::format("{} is broken: {}", location, words_of(problem)));
  }
  return rows;
}

// The result files of a folder, in the order of their names.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path extension = entry.path().extension();
    if ((extension == ".json" || extension == ".jsonl") && entry.is_regular_file(error))
      files.push_back(entry.path().string());
  }
  if (error) refuse_file(folder, "cannot be read: " + error.message());
  std::sort(files.begin(), files.end());
  if (files.empty()) refuse_file(folder, "holds no .json or .jsonl file");
  return files;
}

// Adds the processes of `other`, unless they are the same measurement once more: a copy of a file is no
// second process.
void add_processes(recorded_row& row, recorded_row other, std::vector<std::string>& remarks) {
  for (auto& samples : other.processes) {
    if (std::find(row.processes.begin(), row.processes.end(), samples) == row.processes.end()) {
      row.processes.push_back(std::move(samples));
    } else {
      remarks.push_back(title_of(row.name) + ": the same samples lie in two files, and count once");
    }
  }
}

// Rows of one name: the newest, with those that were measured alike.
recorded_row merged(std::vector<recorded_row> rows, std::vector<std::string>& remarks) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.created > b.created; });
  recorded_row newest = std::move(rows.front());
  for (auto other = rows.begin() + 1; other != rows.end(); ++other) {
    const bool alike = other->sources == newest.sources && other->status == newest.status &&
                       other->measured_under == newest.measured_under;
    if (alike) {
      add_processes(newest, std::move(*other), remarks);
    } else {
      remarks.push_back(fmt::format(
          "{}: the record of {} is left out, being of other sources or conditions than that of {}",
          title_of(newest.name), other->created, newest.created));
    }
  }
  return newest;
}

}  // namespace

std::string title_of(const row_name& name) {
  std::string text = name.parameters;
  if (name.l2 != "none") text += (text.empty() ? "L2 " : ", L2 ") + name.l2;
  return text.empty() ? name.stage : fmt::format("{} ({})", name.stage, text);
}

recorded_side read_side(const std::string& path) {
  recorded_side side{.path = path};
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  std::map<row_name, std::vector<recorded_row>> by_name;
  std::vector<row_name> order;
  for (const std::string& file : is_folder ? files_in(path) : std::vector{path}) {
    for (const json& document : documents_of(file)) {
      if (is_folder && is_other_record(document)) {
        side.remarks.push_back(fmt::format("{} is left out: another record of the lab's", escaped(file)));
        continue;
      }
      for (recorded_row& row : rows_of(file, document)) {
        auto& rows = by_name[row.name];
        if (rows.empty()) order.push_back(row.name);
        rows.push_back(std::move(row));
      }
    }
  }
  for (const row_name& name : order) side.rows.push_back(merged(std::move(by_name[name]), side.remarks));
  const bool timed =
      std::any_of(side.rows.begin(), side.rows.end(), [](const auto& row) { return !row.processes.empty(); });
  if (!timed) refuse_file(path, "holds no timed row");
  return side;
}

}  // namespace lab::front
