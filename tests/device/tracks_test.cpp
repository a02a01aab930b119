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

TEST_CASE("several inputs and a real parameter are tried as one input is") {
  // The last one multiplies in another order than its reference.
  for (const char* path :
       {"axpy/01_naive", "axpy/02_prepared", "matrix_product/01_naive", "convolution/07_separable"}) {
    INFO(path);
    const lab::verification_record record = lab::verified(path);
    if (record.failure) FAIL(lab::failure_message(*record.failure));
    CHECK(record.passed);
    CHECK(record.skipped == 0);
  }
  CHECK(lab::find_track("axpy").describe().inputs == 2);
  CHECK(lab::find_track("axpy").complete({{"a", -3}}).at("a") == -3.0);
}

TEST_CASE("a stage prepares once for its parameters, and that has a time of its own") {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::sampling_options sampling{.minimum_samples = 10, .time_limit_seconds = 0.01};
  const auto preparation = [&](const char* path) {
    const lab::measured found = lab::verify_and_measure(lab::find_stage(path), {{"n", 5000}, {"a", 0.5}},
                                                        {7, 8}, {}, sampling, stream.get());
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
