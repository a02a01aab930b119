#include "harness/front/grade/hidden_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "common/npy.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/run/session.hpp"
#include "harness/front/selection/parameters.hpp"

namespace lab::front {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds patience{60};

// Numbers of a stream that every standard library draws alike, unlike its distributions.
class draws {
 public:
  explicit draws(std::uint64_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(end));
  }
  // From 0.5 to 1.5: sums do not cancel, so that an error of rounding stays one.
  double real() { return 0.5 + static_cast<double>(engine_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

template <class T>
void write_array(const fs::path& path, const std::vector<std::int64_t>& shape, draws& from) {
  std::int64_t count = 1;
  for (const std::int64_t length : shape) count *= length;
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(from.below(1000));
    } else {
      value = static_cast<T>(from.real());
    }
  }
  write_npy<T>(path, values, shape);
}

void draw_array(const fs::path& path, const std::string& type, const std::vector<std::int64_t>& shape,
                draws& from) {
  if (type == "float64") return write_array<double>(path, shape, from);
  if (type == "float32") return write_array<float>(path, shape, from);
  if (type == "int64") return write_array<std::int64_t>(path, shape, from);
  if (type == "uint8") return write_array<unsigned char>(path, shape, from);
  if (type == "bfloat16") return write_array<bfloat16>(path, shape, from);
  throw usage_error(
      fmt::format("'{}' is no type of a hidden input: float64, float32, int64, uint8, bfloat16", type));
}

// A row for each of `rows`; a column's cell is one of its choices, or several of its parts, each "words"
// long.
std::string draw_columns(const nlohmann::json& columns, std::int64_t rows, draws& from) {
  std::string text;
  const char* separator = "";
  for (const auto& column : columns) {
    text += separator + column.at("name").get<std::string>();
    separator = ",";
  }
  text += "\n";
  for (std::int64_t row = 0; row < rows; ++row) {
    separator = "";
    for (const auto& column : columns) {
      const auto& cells = column.at("one_of");
      std::string cell = cells.at(static_cast<std::size_t>(from.below(std::ssize(cells)))).get<std::string>();
      for (std::int64_t more = from.below(column.value("more", 0) + 1); more > 0; --more)
        cell += " " + cells.at(static_cast<std::size_t>(from.below(std::ssize(cells)))).get<std::string>();
      text += separator + cell;
      separator = ",";
    }
    text += "\n";
  }
  return text;
}

nlohmann::json description_of(const std::string& track) {
  const fs::path file = stages_directory() / track / "hidden_inputs.json";
  try {
    return nlohmann::json::parse(read_text(file));
  } catch (const nlohmann::json::exception& problem) {
    throw usage_error(fmt::format("{}: {}", file.string(), cleaned(problem.what(), 200)));
  }
}

nlohmann::json request_for(const std::string& stage, const parameter_values& parameters,
                           const std::vector<std::string>& inputs, const std::string& output) {
  return {{"op", "apply"},    {"stage", stage},      {"parameters", parameters},
          {"inputs", inputs}, {"outputs", {output}}, {"texts", nlohmann::json::object()}};
}

template <class T>
std::string values_difference(const fs::path& found, const fs::path& expected, double tolerance) {
  const npy_array<T> a = read_npy<T>(found);
  const npy_array<T> b = read_npy<T>(expected);
  double largest = 0;
  for (const T value : b.values) {
    const auto size = std::abs(static_cast<double>(value));
    if (std::isfinite(size)) largest = std::max(largest, size);
  }
  for (std::size_t k = 0; k < b.values.size(); ++k) {
    if (a.values[k] == b.values[k]) continue;
    const auto x = static_cast<double>(a.values[k]);
    const auto y = static_cast<double>(b.values[k]);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (!std::is_integral_v<T> && std::abs(x - y) <= tolerance * largest) continue;
    return fmt::format("output {} of {} is {:.9g}, and should be {:.9g}", k, b.values.size(), x, y);
  }
  return "";
}

}  // namespace

hidden_inputs::hidden_inputs(const exercise& exercise, const std::map<std::string, std::string>& sizes,
                             std::uint64_t seed, const fs::path& folder) {
  const std::string track_name = exercise.stage.substr(0, exercise.stage.find('/'));
  const nlohmann::json described = description_of(track_name);
  const connection connected = connect("emulator", select_one(exercise.stage));
  const auto [track, stage] = select_one_stage(connected.description.tracks, exercise.stage);
  std::map<std::string, std::string> texts;
  const nlohmann::json fixed = described.value("parameters", nlohmann::json::object());
  for (const auto& [name, value] : fixed.items()) texts[name] = value.get<std::string>();
  for (const auto& [name, value] : sizes) texts[name] = value;
  if (!exercise.checkpoints.empty()) {
    for (const auto& [name, value] : exercise.checkpoints.front().at) texts[name] = value;
  }
  for (const auto& name : described.value("from_files", nlohmann::json::array()))
    texts.erase(name.get<std::string>());
  draws from(seed);
  // A size of many blocks, and one that fills none.
  for (const std::int64_t scale : {100, 3}) {
    one_case added;
    if (described.value("sizes_are_drawn", false)) {
      for (const auto& [name, value] : sizes) texts[name] = std::to_string(scale * 2 + from.below(100));
    }
    std::vector<parameter_argument> arguments;
    for (const auto& [name, value] : texts) arguments.push_back({name, value});
    added.parameters = given_parameters(*track, arguments);
    const std::string stem = (folder / fmt::format("{}.", cases_.size())).string();
    if (described.contains("columns")) {
      added.inputs.push_back(stem + "input.csv");
      write_file(added.inputs.back(),
                 draw_columns(described.at("columns"), scale * 10 + from.below(300), from));
      added.output = "output.csv";
    } else {
      std::int64_t columns_before = 0;
      for (const auto& array : described.value("arrays", nlohmann::json::array())) {
        auto shape = array.value("shape", std::vector<std::int64_t>());
        const int dimensions = array.value("dimensions", 0);
        for (int k = 0; k < dimensions; ++k)
          shape.push_back(dimensions == 1 ? scale * 250 + from.below(1000) : scale + 60 + from.below(100));
        if (array.value("rows_as_columns_before", false)) shape.front() = columns_before;
        columns_before = shape.back();
        added.inputs.push_back(stem + fmt::format("input{}.npy", added.inputs.size()));
        draw_array(added.inputs.back(), array.at("type").get<std::string>(), shape, from);
      }
      added.output = "output.npy";
    }
    added.expected = stem + "expected." + added.output;
    const answer_record answer = connected.workers.request(
        request_for(exercise.stage, added.parameters, added.inputs, added.expected), patience);
    if (answer.end != answer_end::ok)
      throw environment_error(
          fmt::format("{} itself fails on hidden inputs: {}", exercise.stage, answer_text(answer)));
    cases_.push_back(std::move(added));
  }
}

std::vector<nlohmann::json> hidden_inputs::requests(const std::string& stage, const fs::path& folder) const {
  std::vector<nlohmann::json> all;
  for (std::size_t k = 0; k < cases_.size(); ++k) {
    all.push_back(request_for(stage, cases_[k].parameters, cases_[k].inputs,
                              (folder / fmt::format("{}.{}", k, cases_[k].output)).string()));
  }
  return all;
}

std::string hidden_inputs::fault_in(std::size_t which, const fs::path& folder) const {
  const one_case& asked = cases_.at(which);
  const fs::path found = folder / fmt::format("{}.{}", which, asked.output);
  std::error_code error;
  // A link could lead to any file of the grader's.
  if (!fs::is_regular_file(fs::symlink_status(found, error)) || error)
    return "it was said to be right on hidden inputs, and has left no output";
  if (fs::file_size(found) > 64 * (fs::file_size(asked.expected) + 4096))
    return "its output for hidden inputs is far too long";
  try {
    if (asked.output.ends_with(".npy")) return array_difference(found, asked.expected);
    return read_text(found) == read_text(asked.expected) ? "" : "its output for hidden inputs is wrong";
  } catch (const file_error& problem) {
    return "its output for hidden inputs cannot be read: " + cleaned(problem.what(), 200);
  }
}

std::string array_difference(const fs::path& found, const fs::path& expected) {
  const npy_header a = read_npy_header(found);
  const npy_header b = read_npy_header(expected);
  if (a.type != b.type || a.shape != b.shape) return "its output for hidden inputs has another type or shape";
  std::string difference;
  if (b.holds<double>()) {
    difference = values_difference<double>(found, expected, 1e-9);
  } else if (b.holds<float>()) {
    difference = values_difference<float>(found, expected, 1e-4);
  } else if (b.holds<std::int64_t>()) {
    difference = values_difference<std::int64_t>(found, expected, 0);
  } else if (b.holds<std::uint32_t>()) {
    difference = values_difference<std::uint32_t>(found, expected, 0);
  } else if (b.holds<unsigned char>()) {
    difference = values_difference<unsigned char>(found, expected, 0);
  } else {
    return "its output for hidden inputs has a type that is not compared";
  }
  return difference.empty() ? "" : "on hidden inputs, " + difference;
}

}  // namespace lab::front
