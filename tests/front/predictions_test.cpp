// Predictions of counters: reading, asking, judging, and what the page says.
#include "harness/front/claims/predictions.hpp"

#include <sstream>

#include "harness/front/process/errors.hpp"
#include "tests/catch.hpp"

namespace {

constexpr const char* load_requests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* load_sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";

std::string verdict(double predicted, double figure) {
  return lab::front::verdict_of({.metric = "x.sum", .predicted = predicted, .figure = figure});
}

}  // namespace

TEST_CASE("answers are numbers as people write them") {
  CHECK(lab::front::parse_answer("1024") == 1024);
  CHECK(lab::front::parse_answer(" 1,048,576 ") == 1'048'576);
  CHECK(lab::front::parse_answer("1_000_000") == 1'000'000);
  CHECK(lab::front::parse_answer("8.5") == 8.5);
  CHECK(lab::front::parse_answer("0") == 0);
  for (const char* text :
       {"", " ", "many", "-1", "1,00", "1,0000", ",1", "1e", "0x10", "1 2", "nan", "inf", "_1"}) {
    CAPTURE(text);
    CHECK(!lab::front::parse_answer(text));
  }
}

TEST_CASE("questions are asked until they are answered or skipped") {
  std::istringstream in("a lot\n1,024\n?\n");
  std::ostringstream out;
  const auto given = lab::front::ask(in, out, {load_requests, "b.sum"});
  CHECK(given == lab::front::answers{{load_requests, 1024}});
  CHECK(out.str().find("loads from global memory") != std::string::npos);
  CHECK(out.str().find("That is neither a number") != std::string::npos);
  std::istringstream ended("1024\n");
  CHECK_THROWS_AS(lab::front::ask(ended, out, {"a.sum", "b.sum"}), lab::front::usage_error);
}

TEST_CASE("a prediction is exact, near, or off") {
  CHECK(verdict(1024, 1024) == "exact");
  CHECK(verdict(8.667, 26.0 / 3) == "exact");
  CHECK(verdict(1000, 1024) == "within 3 %");
  CHECK(verdict(1126, 1024) == "within 10 %");
  CHECK(verdict(1127, 1024) == "off by a factor of 1.1");
  CHECK(verdict(128, 1024) == "off by a factor of 8");
  CHECK(verdict(8192, 1024) == "off by a factor of 8");
  CHECK(verdict(8, 250'000) == "off by a factor of 31250");
  CHECK(verdict(31, 0) == "off by 31");
  CHECK(verdict(0, 31) == "off by 31");
  CHECK(verdict(0, 0) == "exact");
  CHECK(lab::front::verdict_of({.metric = "x.sum", .figure = 1}) == "skipped");
  CHECK(lab::front::verdict_of({.metric = "x.sum", .predicted = 1}) == "no figure");
}

TEST_CASE("what is asked about a stage is what its page and its claims speak of, and the device has") {
  lab::front::stage_claims stage;
  stage.metrics = {load_sectors, "dram__bytes_read.sum"};
  stage.claims = {{.metric = load_sectors, .per = load_requests},
                  {.metric = "lab__barriers.sum"},
                  {.metric = lab::front::speed_up_metric}};
  using strings = std::vector<std::string>;
  CHECK(lab::front::questions_about(stage, true) ==
        strings{load_sectors, load_requests, "lab__barriers.sum"});
  CHECK(lab::front::questions_about(stage, false) ==
        strings{load_sectors, "dram__bytes_read.sum", load_requests});
}

TEST_CASE("a page's reasoning is its sections of prediction and of what Nsight shows") {
  const std::string page =
      "# A stage\n\n**The idea.** Something.\n\n**Prediction.** Requests halve,\nsectors stay.\n\n"
      "<!-- predicted: a/b -->\n| a | table |\n<!-- /predicted -->\n\n"
      "**Measured.**\n\n<!-- measured: a/b -->\n| 1 |\n<!-- /measured -->\n\n"
      "**What Nsight shows.** Half.\n\n**Exercise.** None.\n";
  CHECK(lab::front::reasoning_of(page) ==
        "**Prediction.** Requests halve,\nsectors stay.\n\n**What Nsight shows.** Half.\n");
  CHECK(lab::front::reasoning_of("# T\n\n## Predicted gain\n\nSome.\n\n## Exercise\n\nNo.\n") ==
        "## Predicted gain\n\nSome.\n");
  CHECK(lab::front::reasoning_of("# T\n\nNothing.\n").empty());
}
