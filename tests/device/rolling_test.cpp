// The window functions against pandas, and against exact arithmetic on the inputs that running variances get
// wrong (tests/golden/rolling.py); and the verifier rejects each wrong kernel for the right reason.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/memory.hpp"
#include "common/npy.hpp"
#include "common/stream.hpp"
#include "harness/device/stage_call.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"
#include "harness/device/worker.hpp"
#include "stages/rolling/problem.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"
#include "tests/device/verified.hpp"
#include "tests/golden/rolling.hpp"
#include "tests/temporary_directory.hpp"

namespace {

namespace rolling = lab::rolling;
using lab::test::golden_case;
using lab::test::golden_cases;
using rolling_stage = lab::stage<rolling::problem>;

std::vector<double> launched(const rolling_stage& stage, const golden_case& one) {
  const lab::stream on;
  lab::device_buffer<double> in(one.values.size(), on.get());
  lab::device_buffer<double> out(one.values.size(), on.get());
  const std::size_t bytes = stage.workspace_bytes == nullptr ? 0 : stage.workspace_bytes(one.parameters);
  lab::device_buffer<char> scratch(bytes, on.get());
  CUDA_CHECK(cudaMemcpyAsync(in.data(), one.values.data(), in.bytes(), cudaMemcpyHostToDevice, on.get()));
  stage.launch(rolling::problem::bind_input(one.parameters, in.data()), rolling::output{out.data()},
               {scratch.data(), bytes}, on.get());
  std::vector<double> results(one.values.size());
  CUDA_CHECK(cudaMemcpyAsync(results.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost, on.get()));
  on.synchronize();
  return results;
}

std::string wrong_output(const rolling_stage& stage, const golden_case& one) {
  return lab::test::wrong_output(one, launched(stage, one));
}

// The ladder's stages that this device runs, or the wrong kernels, whose names have no number.
std::vector<lab::stage_entry> rolling_stages(bool wrong) {
  std::vector<lab::stage_entry> found;
  for (const lab::stage_entry* entry : lab::stages_of("rolling")) {
    const bool has_number = entry->name[0] >= '0' && entry->name[0] <= '9';
    if (has_number != wrong && lab::why_not_runnable(*entry).empty()) found.push_back(*entry);
  }
  REQUIRE(found.size() >= 3);
  return found;
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
  for (const lab::stage_entry& entry : rolling_stages(false)) {
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
  for (const lab::stage_entry& entry : rolling_stages(false)) {
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
  for (const lab::stage_entry& entry : rolling_stages(true)) {
    // Farther than these reach, in longer windows than they have, or in another order of blocks.
    const std::set<std::string> beyond{
        "nan_is_zero_far",        "few_present",       "forgets_min_periods_when_long",
        "leaves_out_unpublished", "forgets_far_tiles", "adds_tiles_backwards",
        "trips_in_late_rounds"};
    if (beyond.contains(entry.name)) continue;
    INFO(entry.path);
    const rolling_stage& stage = lab::typed_stage<rolling::problem>(entry);
    CHECK(std::any_of(cases.begin(), cases.end(),
                      [&](const golden_case& one) { return !wrong_output(stage, one).empty(); }));
  }
}

TEST_CASE("no operation whose partial sums overflow stands in for one that a stage has not") {
  for (std::int64_t which = 0; which < static_cast<std::int64_t>(rolling::operations); ++which) {
    rolling::problem::parameters p{.n = 1203, .window = 9};
    p.operation = which;
    std::set<std::string> stand_ins;
    for (const rolling::problem::parameters& q : rolling::problem::alternatives(p, lab::pattern::extremes)) {
      const auto one = static_cast<rolling::operation>(q.operation);
      CHECK(one != rolling::operation::mean);
      CHECK(one != rolling::operation::sum);
      CHECK(one != rolling::operation::var);
      CHECK(one != rolling::operation::std);
      stand_ins.insert(std::to_string(q.operation));
    }
    CHECK(stand_ins.size() == 4);
    CHECK(rolling::problem::alternatives(p, lab::pattern::random).size() == 2 * rolling::operations);
  }
}

namespace {

struct applied {
  lab::answer_record answer;
  std::vector<double> results;
  std::string remark;
};

applied apply(const std::string& stage, const std::string& operation, int window,
              const std::vector<double>& values, bool allow_inexact = false) {
  const lab::test::temporary_directory directory;
  const std::string x = (directory / "x.npy").string();
  const std::string y = (directory / "y.npy").string();
  lab::write_npy<double>(x, values, std::array<std::int64_t, 1>{std::ssize(values)});
  applied found{.answer = lab::worker(0).answer(
                    {{"op", "apply"},
                     {"stage", "rolling/" + stage},
                     {"parameters", {{"operation", operation}, {"window", window}, {"min-periods", 0}}},
                     {"inputs", {x}},
                     {"outputs", {y}},
                     {"allow_inexact", allow_inexact}})};
  found.remark = found.answer.content.value("remark", "");
  if (found.answer.end == lab::answer_end::ok) found.results = lab::read_npy<double>(y).values;
  return found;
}

}  // namespace

// pandas-dev/pandas#54518: a variance of running sums that does not forget a giant.
TEST_CASE("what running sums have kept of a giant is told, and not written where it is useless") {
  lab::skip_without_device();
  const std::vector<double> giants{1.7e3, 2.1e17, 1.9e17, 2.004e3, 1.998e3, 2.001e3, 2.001e3};
  for (const char* stage : {"02_monoid", "03_ring"}) {
    INFO(stage);
    const applied right = apply(stage, "std", 2, giants);
    REQUIRE(right.answer.end == lab::answer_end::ok);
    CHECK(right.remark.empty());
    CHECK(std::abs(right.results[4] - 4.2426406871192851) < 1e-9);
    CHECK(std::abs(right.results[5] - 2.1213203435596424) < 1e-9);
    CHECK(right.results[6] == 0);
  }
  const applied refused = apply("01_window_functions", "std", 2, giants);
  INFO(refused.answer.message);
  CHECK(refused.answer.end == lab::answer_end::error);
  CHECK(refused.answer.message.find("output 4 is 0 where 4.24264068711928") != std::string::npos);
  CHECK(refused.answer.message.find("up to 2.1e+11 by the trait `drifts`") != std::string::npos);
  const applied allowed = apply("01_window_functions", "std", 2, giants, true);
  CHECK(allowed.answer.end == lab::answer_end::ok);
  CHECK(allowed.remark.find("up to 2.1e+11") != std::string::npos);

  // What std takes var takes, too: a variance drifts by squares.
  std::vector<double> temperatures(3000);
  for (std::size_t i = 0; i < temperatures.size(); ++i)
    temperatures[i] = 15 + 0.5 * static_cast<double>(i * i % 11);
  CHECK(apply("01_window_functions", "var", 10, temperatures).remark.empty());
  temperatures[700] = 1e8;
  for (const char* operation : {"var", "std"}) {
    INFO(operation);
    const applied found = apply("01_window_functions", operation, 10, temperatures, true);
    INFO(found.answer.message);
    CHECK(found.answer.end == lab::answer_end::ok);
    CHECK(found.remark.find("by the trait `drifts`") != std::string::npos);
  }
}

// pandas-dev/pandas#38874, #40448.
TEST_CASE("variances of tiny values are right, and where squares have no room a word says so") {
  lab::skip_without_device();
  std::vector<double> tiny;
  std::vector<double> tinier;
  for (int i = 0; i < 32; ++i) tiny.push_back(std::array{4e-8, -4.4e-8, 4.8e-8, -4.4e-8}[i % 4]);
  for (int i = 0; i < 42; ++i) tinier.push_back(1e-170 * std::array{5, 5, 6, 7, 5, 2, 5}[i % 7]);
  for (const char* stage : {"02_monoid", "03_ring"}) {
    INFO(stage);
    const applied found = apply(stage, "std", 4, tiny);
    REQUIRE(found.answer.end == lab::answer_end::ok);
    CHECK(found.remark.empty());
    CHECK(std::abs(found.results[31] / 5.091168824543142e-08 - 1) < 1e-12);
    const applied lost = apply(stage, "std", 3, tinier);
    CHECK(lost.answer.end == lab::answer_end::ok);
    CHECK(lost.remark.find("below 1.5e-154") != std::string::npos);
  }
}

// pandas-dev/pandas#45647.
TEST_CASE("an overflow, or an Inf, leaves with its window") {
  lab::skip_without_device();
  const double big = std::numeric_limits<double>::max();
  const double inf = std::numeric_limits<double>::infinity();
  for (const char* stage : {"02_monoid", "03_ring"}) {
    INFO(stage);
    CHECK(apply(stage, "sum", 2, {1, big, big, 3, 4, -big, big, -big, 2, 2, 2}).results ==
          std::vector<double>{inf, big, inf, big, 7, -big, 0, 0, -big, 4, 4});
    CHECK(apply(stage, "sum", 2, {1, 2, inf, 4, 5, 6, -inf, 8, inf, 10, 11, 12}).results ==
          std::vector<double>{inf, 3, inf, inf, 9, 11, -inf, -inf, inf, inf, 21, 23});
  }
}
