// What the harness promises a track of string columns, by one that is there for this alone:
// tests/tracks/upper_case.
#include <filesystem>
#include <string>
#include <vector>

#include "common/csv.hpp"
#include "common/memory.hpp"
#include "common/stream.hpp"
#include "harness/device/column_problem.hpp"
#include "harness/device/column_table.hpp"
#include "harness/device/measure/timed_launches.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/tracks/upper_case/problem.hpp"
#if LAB_EMULATED
#include "common/emulator/core/emulator.hpp"
#endif

// This file is compiled with others, whose helpers have the same names.
namespace columns_test {
namespace {

using lab::failure_kind;
using lab::upper_case::problem;

const lab::stage_entry& right_stage() {
  return lab::find_stage("upper_case/01_naive");
}

lab::parameter_values with(std::int64_t rows, std::int64_t content, std::int64_t offsets = 32) {
  return {{"rows", rows}, {"content", content}, {"offsets", offsets}};
}

std::unique_ptr<lab::workload> make(const lab::stage_entry& stage, const lab::parameter_values& values,
                                    const lab::stream& stream) {
  return lab::track_of(stage).make(stage, values, stream.get());
}

std::string message(const lab::verification_record& record) {
  return record.failure ? lab::failure_message(*record.failure) : "no failure";
}

// Each lacks one thing that a problem declares.
struct makes_no_input : problem {
  static void generate();
};
struct has_no_bound : problem {
  static void max_output_bytes();
};
struct has_no_rows : problem {
  struct parameters {};
};

}  // namespace

TEST_CASE("a problem of columns declares what it must") {
  static_assert(lab::column_problem<problem>);
  static_assert(!lab::allocates_its_output<problem>);
  static_assert(!lab::generates_its_input<makes_no_input> && !lab::column_problem<makes_no_input>);
  static_assert(!lab::defines_its_output<has_no_bound> && !lab::column_problem<has_no_bound>);
  static_assert(!lab::describes_its_parameters<has_no_rows> && !lab::column_problem<has_no_rows>);
  const lab::track_description track = lab::track_of(right_stage()).describe();
  std::vector<std::string> names;
  for (const auto& parameter : track.parameters) names.push_back(parameter.name);
  // Where stages do not allocate, nothing asks where memory comes from.
  CHECK(names == std::vector<std::string>{"rows", "content", "offsets"});
  CHECK(track.parameters[1].choices == std::vector<lab::parameter_value>{"words", "hostile", "empty"});
  CHECK(track.unit == "row");
}

TEST_CASE("a right stage of columns passes thoroughly") {
  lab::skip_without_device();
  const lab::stream stream;
  for (const char* path : {"upper_case/01_naive", "upper_case/02_prepared"}) {
    const auto record = lab::verify(lab::find_stage(path), {1, 2}, true, stream.get(), {with(5000, 0)});
    INFO(path << ": " << message(record));
    CHECK(record.passed);
    CHECK(record.trials > 100);
    CHECK(record.skipped == 0);
  }
  CHECK(make(lab::find_stage("upper_case/01_naive"), with(5, 0), stream)->preparation_nanoseconds() == 0);
  CHECK(make(lab::find_stage("upper_case/02_prepared"), with(5, 0), stream)->preparation_nanoseconds() > 0);
}

TEST_CASE("a stage of columns that allocates nothing is launched again and again, and a graph may hold it",
          "[quiet]") {
  lab::skip_without_device();
  const lab::stream stream;
  const std::size_t before = lab::memory::in_use();
  {
    const auto work = make(right_stage(), with(3000, 1, 64), stream);
    CHECK(work->capturable());
    CHECK_FALSE(lab::run_and_check(*work, {.seed = 1}, stream.get()).failure);
    const std::uint64_t bits = work->digest();
    for (int k = 0; k < 3; ++k) {
      work->poison();
      work->launch();
      CHECK(work->digest() == bits);
      CHECK_FALSE(work->check().failure);
    }
    work->vary(9);
    work->poison();
    work->launch();
    CHECK(work->digest() != bits);
    CHECK_FALSE(work->check().failure);
    // As a graph that does nothing would leave it.
    work->poison();
    REQUIRE(work->check().failure);
  }
  CHECK(lab::memory::in_use() == before);
  const auto measured =
      lab::verify_and_measure(right_stage(), with(2000, 0), {7, 8}, {},
                              {.minimum_samples = 10, .time_limit_seconds = 0.01}, stream.get());
  INFO(message(measured.verification));
  CHECK(measured.verification.passed);
  CHECK(measured.timing);
}

TEST_CASE("what columns need is known: the fewest bytes, memory, and bits of an offset") {
  lab::skip_without_device();
  const lab::track& track = lab::track_of(right_stage());
  const auto data = lab::generated_table<problem>({.rows = 777, .content = 1}, 5);
  const std::int64_t bytes = data->inputs[0].bytes();
  CHECK(data->expected.bytes() == bytes);
  CHECK(lab::generated_table<problem>({.rows = 777, .content = 1, .offsets = 64}, 5) == data);
  CHECK(lab::generated_table<problem>({.rows = 777, .content = 1}, 6) != data);
  const lab::ceiling_need need = track.ceiling(with(777, 1, 64), 5);
  CHECK(need.kind == "copy");
  CHECK(need.bytes == 2 * (778 * 8 + bytes));
  CHECK(track.unsupported(right_stage(), with(200'000'000, 0)).find("take --offsets 64") !=
        std::string::npos);
  CHECK(track.unsupported(right_stage(), with(200'000'000, 0, 64)).empty());
  CHECK_THROWS_WITH(track.complete({{"allocator", 1}}), "no parameter is called allocator");
  const lab::stream stream;
  lab::memory::set_limit(1 << 20);
  CHECK_THROWS_AS(make(right_stage(), with(100'000, 0), stream), lab::memory_error);
  lab::memory::set_limit(0);
}

TEST_CASE("a stage of columns is applied to a CSV file, and a wrong one writes nothing") {
  lab::skip_without_device();
  if (!lab::csv_is_supported()) LAB_SKIP("built without libcsv");
  const lab::stream stream;
  const lab::test::temporary_directory directory;
  const auto input = (directory / "in.csv").string();
  const auto output = (directory / "out.csv").string();
  lab::test::put(input, "id,text\n1,Ada z\n2,\n3,\"é, [`{\"\n");
  const lab::track& track = lab::track_of(right_stage());
  const auto apply = [&](const char* stage, const lab::parameter_values& given = {}) {
    return track.apply(lab::find_stage(std::string("upper_case/") + stage),
                       {.parameters = given, .inputs = {input}, .outputs = {output}, .texts = {}},
                       stream.get());
  };
  const auto wrong = apply("keeps_z");
  REQUIRE(wrong.failure);
  CHECK(lab::failure_message(*wrong.failure).find("expected \"ADA Z\", found \"ADA z\"") !=
        std::string::npos);
  CHECK_FALSE(std::filesystem::exists(output));
  for (const lab::parameter_values& given :
       {lab::parameter_values{}, lab::parameter_values{{"offsets", 64}}}) {
    CHECK(apply("01_naive", given).compared == 3);
    CHECK(lab::test::get(output) == "upper\nADA Z\n\"\"\n\"é, [`{\"\n");
  }
  CHECK_THROWS_WITH(apply("01_naive", {{"rows", 3}}), "rows is what the input file says, not an option here");
  CHECK_THROWS_AS(track.apply(right_stage(), {.inputs = {input, input}, .outputs = {output}}, stream.get()),
                  lab::usage_error);
  CHECK_THROWS_WITH(
      track.apply(right_stage(), {.inputs = {input}, .outputs = {output}, .texts = {{"function", "x"}}},
                  stream.get()),
      "this track takes no --function");
}

}  // namespace columns_test
