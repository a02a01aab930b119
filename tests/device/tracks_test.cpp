// Tracks of other shapes than those of stages/: several input arrays, a real parameter, a stage that prepares
// what it launches. They touch nothing of the harness, and all that it promises holds for them.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "common/npy.hpp"
#include "common/stream.hpp"
#include "harness/device/measure/timed_launches.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"
#include "harness/device/worker.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"
#include "tests/device/verified.hpp"
#include "tests/temporary_directory.hpp"

using lab::failure_kind;

namespace {

void require_refusal(const std::string& path, failure_kind kind, const std::string& words) {
  INFO(path);
  const lab::verification_record record = lab::verified(path);
  REQUIRE(record.failure);
  const std::string message = lab::failure_message(*record.failure);
  INFO(message);
  CHECK(record.failure->kind == kind);
  CHECK(message.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("several inputs and a real parameter are tried as one input is") {
  for (const char* path : {"axpy/01_naive", "axpy/02_prepared", "matrix_product/01_naive"}) {
    INFO(path);
    const lab::verification_record record = lab::verified(path);
    if (record.failure) FAIL(lab::failure_message(*record.failure));
    CHECK(record.passed);
    CHECK(record.skipped == 0);
  }
  CHECK(lab::find_track("axpy").describe().inputs == 2);
  CHECK(lab::find_track("axpy").complete({{"a", -3}}).at("a") == -3.0);
}

TEST_CASE("what is wrong with one of several inputs is said by its name") {
  // On the emulator the kernel is stopped where it writes.
  require_refusal(
      "axpy/changes_y", failure_kind::input_changed,
      lab::emulated
          ? ": lab::axpy::wrong::changes_y::(anonymous namespace)::axpy_kernel: block (0,0,0): "
            "thread (0,0,0) writes at offset 0 of an allocation of 3208 bytes, which a launch may only read"
          : "changed its input y at index 0");
  require_refusal("axpy/writes_behind_y", failure_kind::out_of_bounds,
                  lab::emulated ? "thread (17,0,0) writes at offset 3208 of an allocation of 3208 bytes"
                                : "a write to the input y");
  require_refusal("axpy/swaps_inputs", failure_kind::wrong, "wrong at index");
  require_refusal("axpy/rounds_factor", failure_kind::wrong, "a=-1.5");
  require_refusal("axpy/plans_nothing", failure_kind::crash, "prepare returned a plan without a launch");
}

TEST_CASE("a wrong matrix product is refused for its mistake") {
  const auto require = [](const std::string& name, failure_kind kind, const std::string& words) {
    require_refusal("matrix_product/" + name, kind, words);
  };
  // What a missing barrier does is chance on a GPU.
  if (lab::emulated) {
    require("missing_barrier", failure_kind::wrong, "m=67 n=131");
    // Wrong, or never written where shared memory holds NaN at first.
    const lab::verification_record early = lab::verified("matrix_product/reads_before_landed");
    REQUIRE(early.failure);
    CHECK(lab::failure_message(*early.failure).find("m=67 n=131") != std::string::npos);
  }
  require("stale_beyond_k", failure_kind::wrong, "k=45 m=67 n=131");
  require("writes_row_m", failure_kind::out_of_bounds, lab::emulated ? "writes at offset" : "a write to");
  require("transposes_b", failure_kind::wrong, "k=45 m=67 n=131");
  require("loses_last_tile", failure_kind::wrong, "k=32 m=128 n=128");
  require("multiplies_tf32", failure_kind::wrong, "input=random");
}

TEST_CASE("a stage prepares once for its parameters, and that has a time of its own") {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::measure_plan plan{.minimum_samples = 10, .time_limit_seconds = 0.01};
  const auto preparation = [&](const char* path) {
    const lab::measured found = lab::verify_and_measure(lab::find_stage(path), {{"n", 5000}, {"a", 0.5}},
                                                        {7, 8}, {}, plan, stream.get());
    REQUIRE(found.timing);
    return found.timing->preparation;
  };
  CHECK(preparation("axpy/01_naive") == 0);
  CHECK(preparation("axpy/02_prepared") > 0);
}

TEST_CASE("several arrays of one's own are taken, and their shapes must fit each other") {
  lab::skip_without_device();
  const lab::test::temporary_directory directory;
  const std::string a = (directory / "a.npy").string();
  const std::string b = (directory / "b.npy").string();
  const std::string c = (directory / "c.npy").string();
  const std::vector<float> left{1, 2, 3, 4, 5, 6};
  const std::vector<float> right{1, 0, 0, 1, 1, 1};
  lab::write_npy<float>(a, left, std::array<std::int64_t, 2>{2, 3});
  lab::write_npy<float>(b, right, std::array<std::int64_t, 2>{3, 2});
  const auto apply = [&](const std::vector<std::string>& inputs) {
    return lab::worker(0).answer(
        {{"op", "apply"}, {"stage", "matrix_product/01_naive"}, {"inputs", inputs}, {"outputs", {c}}});
  };
  REQUIRE(apply({a, b}).end == lab::answer_end::ok);
  CHECK(lab::read_npy<float>(c).values == std::vector<float>{4, 5, 10, 11});
  CHECK(lab::read_npy<float>(c).shape == std::vector<std::int64_t>{2, 2});
  CHECK(apply({a}).message == "this track takes 2 input files, not 1");
  CHECK(apply({a, a}).message.find("a.npy: b must be 3 x 3, not 2 x 3") != std::string::npos);
}
