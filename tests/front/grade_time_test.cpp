// A submission's time against the reference's, where both are told by a worker that only pretends
// (fake_worker.cpp): a GPU whose stages take 400, 200 and 125 us.
#include <chrono>
#include <string>
#include <vector>

#include "harness/front/grade/reports.hpp"
#include "harness/front/grade/time_against_reference.hpp"
#include "harness/front/process/errors.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/front/program.hpp"

namespace {

using lab::front::time_against_reference;
using lab::front::timed_submission;
using lab::test::contains;
using lab::test::message_of;

lab::front::stage_worker fake(const std::string& stage) {
  return {{LAB_FAKE_WORKER, "--device", "0"}, stage};
}

// As a submission's worker is started.
lab::front::stage_worker submitted(const std::string& stage) {
  lab::front::stage_worker one = fake(stage);
  one.is_sealed = true;
  return one;
}

lab::front::timing_terms terms(std::chrono::milliseconds patience = std::chrono::seconds(20)) {
  return {.parameters = {{"n", lab::parameter_value(1000)}}, .patience = patience};
}

timed_submission timed(const std::string& reference, const std::string& other) {
  return time_against_reference(fake(reference), terms()).time(submitted(other));
}

}  // namespace

TEST_CASE("points for time fall from 3 percent beyond the reference to nothing at twice its time") {
  using lab::front::share_of_points;
  CHECK(share_of_points(0.2) == 1);
  CHECK(share_of_points(1) == 1);
  CHECK(share_of_points(1.03) == 1);
  CHECK(share_of_points(1.515) == Approx(0.5));
  CHECK(share_of_points(2) == 0);
  CHECK(share_of_points(1e9) == 0);
  double before = 1;
  for (double ratio = 0.5; ratio < 2.5; ratio += 0.01) {
    CHECK(share_of_points(ratio) <= before);
    before = share_of_points(ratio);
  }
}

TEST_CASE("noise counts for the student, and a reference that keeps to no time for nobody") {
  CHECK(lab::front::ratio_of({110, 104}, {100, 104}) == 1);
  CHECK(lab::front::ratio_of({200, 210}, {100, 100}) == 2);
  CHECK(lab::front::is_steady({100, 109}));
  CHECK(lab::front::is_steady({109, 100}));
  CHECK(!lab::front::is_steady({100, 111}));
  CHECK(!lab::front::is_steady({111, 100}));
}

TEST_CASE("a submission is timed twice, between two times of the reference") {
  const timed_submission twice = timed("ladder/02_second", "ladder/01_first");
  CHECK(twice.fault.empty());
  CHECK(twice.times == std::vector<double>{400e3, 400e3});
  CHECK(twice.reference_times == std::vector<double>{200e3, 200e3});
  CHECK(twice.ratio.value_or(0) == 2);
  CHECK(timed("ladder/02_second", "faults/09_good").ratio.value_or(0) == 1);
  CHECK(timed("ladder/03_library", "ladder/02_second").ratio.value_or(0) == Approx(1.6));
}

TEST_CASE("a submission that is wrong on the device, or lies about its time, has none") {
  const time_against_reference against(fake("ladder/02_second"), terms(std::chrono::seconds(1)));
  const auto fault = [&](const std::string& stage) {
    const timed_submission found = against.time(submitted(stage));
    CHECK(!found.ratio);
    INFO(found.fault);
    return found.fault;
  };
  CHECK(contains(fault("faults/01_wrong"), "wrong at index 17: expected 3.5, found nan"));
  CHECK(contains(fault("faults/02_crash"), "killed by signal 11"));
  // The reference ran: somebody else has taken the memory.
  CHECK_THROWS_AS(fault("faults/06_memory"), lab::front::environment_error);
  CHECK(contains(fault("faults/07_unsupported"), "window 20000 exceeds 4096"));
  CHECK(contains(fault("hang/02_hang"), "no answer within 1 s"));
  for (const char* forgery : {"answers/01_forged", "answers/02_repeated"})
    CHECK(contains(fault(forgery), "something that is not the worker's wrote to its answers"));
  CHECK(contains(fault("odd/05_incomplete"), "cannot be understood"));

  // Nothing is faster than the copy of the fewest bytes.
  lab::front::timing_terms lit = terms();
  lit.ceiling.emplace();
  lit.ceiling->timing.median = 100e3;
  const time_against_reference in_light(fake("ladder/02_second"), lit);
  CHECK(contains(in_light.time(submitted("light/02_faster_than_light")).fault, "over the speed of light"));
  CHECK(in_light.time(submitted("ladder/03_library")).ratio.value_or(0) == Approx(0.625));
}

TEST_CASE("a reference that fails is the lab's fault, and no submission's") {
  using lab::front::environment_error;
  const auto fault = [](const std::string& reference) {
    return message_of<environment_error>([&] { time_against_reference(fake(reference), terms()); });
  };
  CHECK(contains(fault("faults/01_wrong"), "faults/01_wrong itself: wrong at index 17"));
  CHECK(contains(fault("faults/07_unsupported"), "itself: window 20000 exceeds 4096"));
}

TEST_CASE(
    "the points for time are in a grade's sums where they are counted, and nowhere where they are not") {
  lab::front::submission_grade grade{
      .name = "anna",
      .parts = {{.name = "correctness", .points = 30, .most = 30},
                {.name = "GPU time", .points = 5, .most = 10, .text = "1.51x the reference's time"}}};
  nlohmann::json results = lab::front::gradescope_results(grade, "t");
  CHECK(results.at("score") == 35);
  CHECK(results.at("tests").at(1).at("max_score") == 10);
  CHECK(results.at("tests").at(1).at("status") == "failed");
  CHECK(grade.most() == 40);
  grade.parts[1] = {.name = "GPU time", .most = 10, .is_counted = false, .text = "not measured: no GPU"};
  results = lab::front::gradescope_results(grade, "t");
  CHECK(results.at("score") == 30);
  CHECK(results.at("tests").size() == 1);
  CHECK(contains(results.at("output"), "GPU time (10 points): not measured: no GPU"));
  CHECK(grade.most() == 30);
}
