// The window functions against pandas, and against exact arithmetic on the inputs that running variances get
// wrong (tests/golden/rolling.py); and the gate rejects each wrong kernel for the right reason.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/memory.hpp"
#include "common/stream.hpp"
#include "harness/device/track.hpp"
#include "harness/device/typed_stage.hpp"
#include "harness/device/verify.hpp"
#include "stages/rolling/problem.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"
#include "tests/files.hpp"

namespace {

namespace rolling = lab::rolling;
using rolling_stage = lab::stage<rolling::problem>;

// One case of the golden file: `sampled` outputs of its input, or all of them.
struct golden_case {
  std::string input;
  rolling::problem::parameters parameters;
  std::vector<double> values;
  std::vector<std::int64_t> indices;
  std::vector<double> results;  // NaN where incomplete
  double more_error;            // of the truth itself, relative to the largest square among the inputs

  [[nodiscard]] rolling::operation operation() const {
    return static_cast<rolling::operation>(parameters.operation);
  }
  [[nodiscard]] std::string text() const {
    return input + ", window " + std::to_string(parameters.window) + ", min-periods " +
           std::to_string(parameters.min_periods) + ", operation " + std::to_string(parameters.operation) +
           ", missing " + std::to_string(parameters.missing);
  }
};

double number_or_nan(const nlohmann::json& value) {
  return value.is_null() ? NAN : value.get<double>();
}

std::int64_t operation_of(const std::string& name) {
  const std::vector<std::string> names{"mean", "sum", "min", "max", "var", "std", "first_minus_last"};
  return std::find(names.begin(), names.end(), name) - names.begin();
}

// `part` is by_pandas or by_fractions. Inputs without NaN are tried with either --missing.
std::vector<golden_case> golden_cases(const std::string& part) {
  const nlohmann::json all = nlohmann::json::parse(lab::test::get(LAB_GOLDEN "/rolling.json"));
  std::vector<golden_case> cases;
  for (const nlohmann::json& one : all.at(part)) {
    golden_case made{.input = one.at("input"), .more_error = part == "by_pandas" ? 1e-14 : 0};
    for (const nlohmann::json& value : all.at("inputs").at(made.input))
      made.values.push_back(number_or_nan(value));
    for (const nlohmann::json& value : one.at("results")) made.results.push_back(number_or_nan(value));
    if (part == "by_pandas") {
      made.indices = all.at("sampled").get<std::vector<std::int64_t>>();
    } else {
      for (std::int64_t i = 0; i < std::ssize(made.values); ++i) made.indices.push_back(i);
    }
    REQUIRE(made.indices.size() == made.results.size());
    made.parameters = {.n = std::ssize(made.values),
                       .window = one.at("window"),
                       .min_periods = one.at("min_periods"),
                       .operation = operation_of(one.at("operation")),
                       .missing = static_cast<std::int64_t>(rolling::missing::skip)};
    cases.push_back(made);
    const bool has_nan =
        std::any_of(made.values.begin(), made.values.end(), [](double x) { return std::isnan(x); });
    made.parameters.missing = static_cast<std::int64_t>(rolling::missing::propagate);
    if (!has_nan) cases.push_back(made);
  }
  return cases;
}

// Whether `found` is output k of the case, within the error that the problem allows for its window.
bool is_right(const golden_case& one, std::size_t k, double found) {
  const std::int64_t i = one.indices[k];
  long double magnitude = 0;
  long double squares = 0;
  std::int64_t count = 0;
  for (std::int64_t j = std::max<std::int64_t>(0, i - one.parameters.window + 1); j <= i; ++j) {
    const long double x = one.values[static_cast<std::size_t>(j)];
    if (std::isnan(x)) continue;
    ++count;
    magnitude += std::abs(x);
    squares += x * x;
  }
  const double expected = one.results[k];
  if (count < rolling::problem::min_periods(one.parameters))
    return std::isnan(expected) && found == rolling::incomplete;
  if (std::isnan(expected)) return std::isnan(found);
  const long double rms = std::sqrt(squares / static_cast<long double>(count));
  const double largest = std::abs(*std::max_element(
      one.values.begin(), one.values.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  long double scale = 0;
  double of_truth = 0;
  switch (one.operation()) {
    case rolling::operation::mean:
      scale = magnitude / static_cast<long double>(count);
      of_truth = largest;
      break;
    case rolling::operation::sum:
      scale = magnitude;
      of_truth = largest * static_cast<double>(one.parameters.window);
      break;
    case rolling::operation::var:
      if (found < 0) return false;
      scale = std::sqrt(static_cast<long double>(expected)) * rms;
      of_truth = largest * largest;
      break;
    case rolling::operation::std:
      if (found < 0) return false;
      scale = expected == 0 ? 0 : rms;
      of_truth = expected == 0 ? 0 : largest * largest / expected;
      break;
    default:
      return found == expected;
  }
  return std::abs(static_cast<long double>(found) - expected) <=
         rolling::problem::relative_error(one.parameters) * scale + one.more_error * of_truth;
}

std::vector<double> launched(const rolling_stage& stage, const golden_case& one) {
  const lab::stream on;
  lab::device_buffer<double> in(one.values.size(), on.get());
  lab::device_buffer<double> out(one.values.size(), on.get());
  const std::size_t bytes = stage.workspace_bytes == nullptr ? 0 : stage.workspace_bytes(one.parameters);
  lab::device_buffer<char> scratch(bytes, on.get());
  CUDA_CHECK(cudaMemcpyAsync(in.data(), one.values.data(), in.bytes(), cudaMemcpyHostToDevice, on.get()));
  stage.launch(rolling::problem::bind_input(one.parameters, in.data()),
               rolling::problem::bind_output(one.parameters, out.data()), {scratch.data(), bytes}, on.get());
  std::vector<double> results(one.values.size());
  CUDA_CHECK(cudaMemcpyAsync(results.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost, on.get()));
  on.synchronize();
  return results;
}

// The first output of the case that the stage gets wrong, or no words.
std::string wrong_output(const rolling_stage& stage, const golden_case& one) {
  const std::vector<double> results = launched(stage, one);
  for (std::size_t k = 0; k < one.indices.size(); ++k) {
    const double found = results[static_cast<std::size_t>(one.indices[k])];
    if (!is_right(one, k, found)) {
      return one.text() + ": output " + std::to_string(one.indices[k]) + " is " +
             nlohmann::json(found).dump() + " and should be " + nlohmann::json(one.results[k]).dump();
    }
  }
  return "";
}

// Stages of the ladder that this device runs.
std::vector<lab::stage_entry> rolling_stages() {
  std::vector<lab::stage_entry> found;
  for (const char* name :
       {"01_window_functions", "02_monoid", "03_ring", "04_work_counter", "05_two_scans", "90_cub_scan"}) {
    const lab::stage_entry& entry = lab::find_stage(std::string("rolling/") + name);
    if (lab::why_not_runnable(entry).empty()) found.push_back(entry);
  }
  return found;
}

void require_wrong_windows(const std::string& name, const std::string& words, const std::string& where) {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::stage_entry& stage = lab::find_stage("rolling/" + name);
  const lab::verification_record record = lab::verify(
      stage, {1, 2}, true, stream.get(), lab::default_parameters(lab::track_of(stage).describe()));
  INFO(name);
  REQUIRE(record.failure);
  const std::string message = lab::failure_message(*record.failure);
  INFO(message);
  CHECK(record.failure->kind == lab::failure_kind::wrong);
  CHECK(message.find(words) != std::string::npos);
  CHECK(message.find(where) != std::string::npos);
}

}  // namespace

TEST_CASE("the definition of the window functions is pandas', and exact where pandas is not") {
  std::size_t compared = 0;
  for (const char* part : {"by_pandas", "by_fractions"}) {
    for (const golden_case& one : golden_cases(part)) {
      const auto value = [&](std::int64_t j) { return one.values[static_cast<std::size_t>(j)]; };
      for (std::size_t k = 0; k < one.indices.size(); ++k) {
        const auto found =
            static_cast<double>(rolling::problem::reference(value, one.parameters, one.indices[k]).value);
        INFO(one.text() << ", output " << one.indices[k] << ": " << found << ", and by the file "
                        << one.results[k]);
        if (!is_right(one, k, found)) FAIL("the definition differs");
        ++compared;
      }
    }
  }
  CHECK(compared > 10'000);
}

TEST_CASE("every stage of the window functions agrees with pandas") {
  lab::skip_without_device();
  const std::vector<golden_case> cases = golden_cases("by_pandas");
  for (const lab::stage_entry& entry : rolling_stages()) {
    const rolling_stage& stage = lab::typed_stage<rolling::problem>(entry);
    int run = 0;
    for (golden_case one : cases) {
      if (stage.unsupported != nullptr && !stage.unsupported(one.parameters).empty()) continue;
      ++run;
      if (entry.traits.drifts) one.more_error = 1e-12;
      INFO(entry.path);
      CHECK(wrong_output(stage, one) == "");
    }
    INFO(entry.path << " ran " << run << " of " << cases.size());
    CHECK((entry.name == "02_monoid" || entry.name == "03_ring" ? run == std::ssize(cases) : run > 0));
  }
}

TEST_CASE("inputs that running variances get wrong are right without a running sum, and wrong with one") {
  lab::skip_without_device();
  const std::vector<golden_case> cases = golden_cases("by_fractions");
  for (const lab::stage_entry& entry : rolling_stages()) {
    const rolling_stage& stage = lab::typed_stage<rolling::problem>(entry);
    std::set<std::string> wrong;
    for (const golden_case& one : cases) {
      if (stage.unsupported != nullptr && !stage.unsupported(one.parameters).empty()) continue;
      const std::string words = wrong_output(stage, one);
      if (!entry.traits.drifts) {
        INFO(entry.path);
        CHECK(words == "");
      }
      if (!words.empty()) wrong.insert(one.input);
    }
    // What its trait `drifts` stands for. A device contracts to other roundings.
    if (entry.name == "01_window_functions") {
      CHECK_FALSE(wrong.empty());
      if (lab::emulated) {
        CHECK(wrong == std::set<std::string>{"1.3e17 then 1995", "1e-7 then zeros", "1e16 then ones",
                                             "constant after others", "nearly constant", "ten magnitudes",
                                             "tiny variance on a huge mean"});
      }
    }
  }
}

TEST_CASE("the golden results of the window functions refuse each wrong kernel") {
  lab::skip_without_device();
  std::vector<golden_case> cases = golden_cases("by_pandas");
  for (golden_case& one : golden_cases("by_fractions")) cases.push_back(std::move(one));
  for (const char* name : {"off_by_one", "keeps_extremum", "difference_of_squares", "nan_sticks",
                           "combines_backwards", "divides_by_window", "reuses_slot", "ignores_min_periods"}) {
    INFO(name);
    const auto& stage = lab::typed_stage<rolling::problem>(lab::find_stage(std::string("rolling/") + name));
    CHECK(std::any_of(cases.begin(), cases.end(),
                      [&](const golden_case& one) { return !wrong_output(stage, one).empty(); }));
  }
}

TEST_CASE("a wrong window function is rejected, in words that say what is wrong") {
  SECTION("window off by one") {
    require_wrong_windows("off_by_one", "wrong at index 37", "operation=mean");
  }
  SECTION("a minimum that has left") {
    require_wrong_windows("keeps_extremum", "wrong at index 399", "operation=min");
  }
  SECTION("a variance that cancels") {
    require_wrong_windows("difference_of_squares", "wrong at index", "operation=std");
  }
  SECTION("NaN that sticks") {
    require_wrong_windows("nan_sticks", "found nan", "input=NaN and Inf");
  }
  SECTION("the wrong order") {
    require_wrong_windows("combines_backwards", "wrong at index", "operation=first_minus_last");
  }
  SECTION("a mean of fewer values") {
    require_wrong_windows("divides_by_window", "wrong at index", "missing=skip");
  }
  SECTION("a slot of the ring that is still read") {
    require_wrong_windows("reuses_slot", "wrong at index 128", "window=37");
  }
  SECTION("min-periods not looked at") {
    require_wrong_windows("ignores_min_periods", "wrong at index 0", "found inf");
  }
}
