// The harness itself: the verifier rejects each wrong kernel for the right reason, host and device draw the
// same inputs, owners own, and the sampler's arithmetic is right.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/memory.hpp"
#include "common/operations.hpp"
#include "common/stream.hpp"
#include "harness/device/compared_pieces.hpp"
#include "harness/device/comparison.hpp"
#include "harness/device/fold.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/measure/ceilings.hpp"
#include "harness/device/measure/timed_launches.hpp"
#include "harness/device/references.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"
#include "harness/device/worker.hpp"
#include "harness/turns.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"
#include "tests/device/verified.hpp"
#include "tests/temporary_directory.hpp"
#if LAB_EMULATED
#include "common/emulator/core/emulator.hpp"
#endif

using lab::failure_kind;

// What takes most of a GPU's memory has it for itself.
constexpr const char* quiet_on_gpu = lab::emulated ? "" : "[quiet]";

TEST_CASE("a wrong output is told with the block and the thread that compute it") {
  const auto failure = lab::verified("moving_average/wrong_at_one_index").failure;
  REQUIRE(failure);
  CHECK(failure->block == "96");   // 12345 / 128
  CHECK(failure->thread == "57");  // 12345 % 128
  // Two rows begin at 0, and a device decides which of them stays: the first wrong row is 0 or 1.
  const auto row = lab::verified("redact/neighbours_offset").failure;
  REQUIRE(row);
  CHECK(*row->index <= (lab::emulated ? 0 : 1));
  CHECK(row->block == "0");
  CHECK(row->thread == std::to_string(*row->index));
}

TEST_CASE("of many outputs both ends, those beside a special one, and drawn ones are compared") {
  using pieces = std::vector<std::int64_t>;
  CHECK(lab::compared_pieces(0, 8, 100, 1).empty());
  CHECK(lab::compared_pieces(1, 8, 100, 1) == pieces{0});
  CHECK(lab::compared_pieces(4, 1000, 100, 1) == pieces{0, 1, 2, 3});  // four at least
  CHECK(lab::compared_pieces(12, 8, 100, 1).size() == 12);
  const pieces some = lab::compared_pieces(1000, 8, 100, 1, 4003);  // of piece 500
  CHECK(some.size() == 12);
  CHECK(std::is_sorted(some.begin(), some.end()));
  CHECK(std::adjacent_find(some.begin(), some.end()) == some.end());
  for (const std::int64_t piece : {0, 500, 501, 999})
    CHECK(std::find(some.begin(), some.end(), piece) != some.end());
  CHECK(some == lab::compared_pieces(1000, 8, 100, 1, 4003));
  CHECK(some != lab::compared_pieces(1000, 8, 100, 2, 4003));
  // The special one at the ends, or of another part.
  for (const std::int64_t special : {-5, 0, 7999, 123'456})
    CHECK(lab::compared_pieces(1000, 8, 100, 3, special).size() == 12);
  CHECK(lab::special_index(lab::pattern::one_changed, lab::seed_of_change(9, 77)) == 77);
  CHECK(lab::special_index(lab::pattern::lone_value, 77) == 77);
  CHECK_FALSE(lab::special_index(lab::pattern::integers, 77));
}

TEST_CASE("a device's processes take turns") {
  const lab::test::temporary_directory folder;
  setenv(lab::turns_variable, folder.path().c_str(), 1);
  std::atomic<bool> has_had_it = false;
  auto own = std::make_unique<lab::turn>(lab::device_turn);
  const lab::turn of_another_kind(lab::row_turn);
  std::thread other([&] {
    const lab::turn next(lab::device_turn);
    has_had_it = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK_FALSE(has_had_it);
  own.reset();
  other.join();
  CHECK(has_had_it);
  unsetenv(lab::turns_variable);
  // Without it nobody waits.
  const lab::turn first(lab::device_turn), second(lab::device_turn);
}

TEST_CASE("what is missing at a measured size is found where nothing is exact, or known from other stages") {
  SECTION("of a row, where what is right is worked out once for all stages") {
    lab::skip_without_device();
    const lab::stream stream;
    const std::vector<lab::parameter_values> measured{
        {{"rows", 1500}, {"columns", 900}, {"pitch", 0}, {"result", "rows"}}};
    const auto at_size = [&](const char* stage) {
      return lab::verify(lab::find_stage(stage), {1, 2}, false, stream.get(), measured);
    };
    CHECK(at_size("reduction_2d/01_naive").passed);
    const auto kept = lab::references::worked_out_here();
    CHECK(std::any_of(kept.begin(), kept.end(), [](const auto& one) {
      return one.first.find("digest") == 0 && one.first.find("columns=900") != std::string::npos;
    }));
    const lab::verification_record wrong = at_size("reduction_2d/misses_one_at_size");
    REQUIRE(wrong.failure);
    const std::string message = lab::failure_message(*wrong.failure);
    INFO(message);
    CHECK(message.find("wrong at index 750: expected ") != std::string::npos);
    CHECK(message.find("input=small integers") != std::string::npos);
  }
  SECTION("a NaN") {
    const lab::stream stream;
    lab::skip_without_device();
    const lab::verification_record record =
        lab::verify(lab::find_stage("reduction/drops_nan_far"), {1, 2}, false, stream.get(),
                    {{{"n", 1'000'000}, {"type", "float32"}, {"operation", "min"}}});
    REQUIRE(record.failure);
    CHECK(lab::failure_message(*record.failure).find("expected nan") != std::string::npos);
  }
}

#if LAB_EMULATED
TEST_CASE("flags that the launch before has left are found with any number of OS threads") {
  const lab::emulator::options before = lab::emulator::configuration();
  for (const int threads : {1, 4}) {
    INFO(threads);
    lab::emulator::options wanted = before;
    wanted.threads = threads;
    lab::emulator::configure(wanted);
    const auto first_look = [](const char* stage) {
      const lab::stream on;
      const auto record = lab::verify(lab::find_stage(stage), {1, 2}, false, on.get());
      lab::emulator::reset();
      return record;
    };
    const auto wrong = first_look("reduction/chain_never_cleared");
    REQUIRE(wrong.failure);
    INFO(lab::failure_message(*wrong.failure));
    CHECK(wrong.failure->kind == failure_kind::wrong);
    const auto right = first_look("reduction/chain_cleared");
    INFO((right.failure ? lab::failure_message(*right.failure) : ""));
    CHECK(right.passed);
  }
  lab::emulator::configure(before);
}
#endif

#if !LAB_EMULATED
TEST_CASE("device memory that a stage keeps is reported", "[quiet]") {
  const lab::verification_record record = lab::verified("moving_average/keeps_device_memory");
  CHECK(record.passed);
  CHECK(record.kept_bytes >= 90'000'000);
}
#endif

TEST_CASE("every timed launch is proved: its input is new, and what it leaves is looked at") {
  lab::skip_without_device();
  const lab::stream stream;
  const std::int64_t n = lab::emulated ? 500'000 : 50'000'000;
  const auto require = [&](const std::string& stage, const lab::parameter_values& parameters,
                           std::int64_t samples) {
    const auto found =
        lab::verify_and_measure(lab::find_stage(stage), parameters, {1, 2}, {},
                                {.minimum_samples = samples, .time_limit_seconds = 0.1}, stream.get());
    INFO(stage);
    CHECK_FALSE(found.verification.passed);
    CHECK_FALSE(found.timing);
  };
  require("reduction/silent_when_timed", {{"n", n}, {"type", 32}, {"operation", 0}}, 5);
  // Of what may differ from run to run, whether it was written at all.
  require("elementwise/stops_writing", {{"n", n}}, 10);
}

TEST_CASE("a reduction's reference is exact, on one core and on all") {
  // Uniform inputs are multiples of 2^-53: their sum is one of integers.
  const std::int64_t n = 3'000'001;
  const lab::generated_values<double> value{lab::pattern::random, 9};
  __extension__ unsigned __int128 exact = 0;
  for (std::int64_t i = 0; i < n; ++i) exact += static_cast<std::uint64_t>(value(i) * 0x1p53);
  const auto expected = static_cast<long double>(exact) * 0x1p-53L;
  const lab::expectation found = lab::fold<lab::sum>(value, n);
  CHECK(std::abs(found.value - expected) <= 1e-17L * expected);
  CHECK(std::abs(found.scale - found.value) <= 1e-12L * found.value);
  CHECK(lab::fold<lab::sum>(value, n).value == found.value);
  CHECK(lab::fold<lab::maximum>([](std::int64_t j) { return j == 4242 ? NAN : static_cast<float>(j); }, 5000)
            .value !=
        lab::fold<lab::maximum>([](std::int64_t j) { return static_cast<float>(j); }, 5000).value);
  CHECK(lab::fold<lab::sum>(value, 0).value == 0);
}

TEST_CASE("inputs made many at a time are those that are made one by one") {
  const auto require_same = []<class T>(T /*element*/) {
    for (std::size_t which = 0; which < std::size(lab::pattern_names); ++which) {
      const auto kind = static_cast<lab::pattern>(which);
      INFO(lab::to_string(kind));
      const lab::generated_values<T> value{kind, 70'007};
      const auto bits = [](T one) {
        std::uint64_t all = 0;
        std::memcpy(&all, &one, sizeof one);
        return all;
      };
      for (const std::int64_t step : {1, 3}) {
        std::vector<T> many(1'037);
        value.values(69'500, step, std::ssize(many), many.data());
        bool same = true;
        for (std::int64_t k = 0; k < std::ssize(many); ++k)
          same = same && bits(many[static_cast<std::size_t>(k)]) == bits(value(69'500 + k * step));
        CHECK(same);
      }
      // In order at two places, and out of it.
      const lab::values_in_order<T> in_order(value);
      bool same = true;
      for (std::int64_t j = 69'000; j < 70'900; ++j) {
        same = same && bits(in_order(j)) == bits(value(j)) && bits(in_order(j - 300)) == bits(value(j - 300));
        if (j % 97 == 0) same = same && bits(in_order(7 * j)) == bits(value(7 * j));
      }
      CHECK(same);
    }
  };
  require_same(double{});
  require_same(float{});
  require_same(std::int64_t{});
  std::vector<std::uint64_t> keys(777);
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    keys[k] = lab::random_bits(5, k);
    sum += lab::random_bits(keys[k], 40 + k);
  }
  CHECK(lab::sum_of_hashes(keys.data(), 40, std::ssize(keys)) == sum);
}

TEST_CASE("a reference's sum cancels, overflows and holds infinities as one in long double does") {
  const auto sum = [](const std::vector<double>& values) {
    return lab::sums_of([&](std::int64_t j) { return values[static_cast<std::size_t>(j)]; }, 0,
                        std::ssize(values));
  };
  const double largest = std::numeric_limits<double>::max();
  const double least = std::numeric_limits<double>::denorm_min();
  std::vector<double> cancels;
  for (int k = 0; k < 1000; ++k) cancels.insert(cancels.end(), {1e16, 1, -1e16});
  CHECK(sum(cancels).values == 1000);  // in double 0, or next to it
  CHECK(sum(std::vector<double>(1001, 0.1)).values == 1001 * static_cast<long double>(0.1));
  CHECK(sum(std::vector<double>(777, least)).values == 777 * static_cast<long double>(least));
  CHECK(sum({largest, largest, -largest}).values == static_cast<long double>(largest));
  CHECK(sum({largest, largest}).magnitudes == 2 * static_cast<long double>(largest));
  CHECK(sum({1, -INFINITY, 2}).values == -INFINITY);
  CHECK(sum({INFINITY, 1, INFINITY}).values == INFINITY);
  CHECK(std::isnan(sum({INFINITY, -INFINITY}).values));
  std::vector<double> late(5000, 1);
  late.back() = NAN;
  CHECK(std::isnan(sum(late).values));
  CHECK(sum({}).values == 0);
}

TEST_CASE("a ceiling is measured once for parameters that move the same bytes") {
  lab::skip_without_device();
  const lab::sampling_options sampling{.minimum_samples = 3, .time_limit_seconds = 0.01};
  const auto answer = [&](std::int64_t n, const char* operation) {
    return lab::worker(0).answer({{"op", "ceiling"},
                                  {"track", "reduction"},
                                  {"parameters", {{"n", n}, {"operation", operation}}},
                                  {"like", {{"n", 1000}, {"operation", "sum"}}},
                                  {"plan", sampling}});
  };
  CHECK(answer(1000, "max").content.value("like", false));
  CHECK(answer(2000, "sum").content.contains("ceiling"));
}

TEST_CASE("the ceiling of a track that only reads is a read of the same bytes") {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::track& track = lab::find_track("reduction");
  lab::ceiling_need need = track.ceiling(track.complete({{"n", 1'000'003}}), 1);
  CHECK(need.kind == "read");
  CHECK(need.bytes == 4 * 1'000'004);
  const lab::ceiling_record ceiling =
      lab::measure_ceiling(need, {.minimum_samples = 10, .time_limit_seconds = 0.05}, stream.get());
  CHECK(ceiling.timing.median > 0);
  CHECK(ceiling.bytes == need.bytes);
  need.operation = "read kernel, 2 x 16 bytes a thread";
  CHECK(lab::measure_ceiling(need, {.minimum_samples = 3, .time_limit_seconds = 0.01}, stream.get())
            .operation == need.operation);
}

TEST_CASE("the fewest operations are timed on their unit, and on no other") {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::sampling_options sampling{.minimum_samples = 10, .time_limit_seconds = 0.05};
  for (const std::string unit : {"fp32", "tensor"}) {
    const auto ceiling = lab::measure_arithmetic({.operations = 1e6, .unit = unit}, sampling, stream.get());
    REQUIRE(ceiling);
    CHECK(ceiling->kind == unit);
    CHECK(ceiling->operations == 1e6);
    CHECK(ceiling->timing.median > 0);
  }
  CHECK(lab::multiply_add_all(1e6, stream.get()) >= 1e6);
  CHECK(lab::multiply_matrices_all(1e6, stream.get()) >= 1e6);
  CHECK_FALSE(lab::measure_arithmetic({.operations = 0, .unit = "tensor"}, sampling, stream.get()));
  CHECK_THROWS_AS(lab::measure_arithmetic({.operations = 1, .unit = "fp8"}, sampling, stream.get()),
                  lab::usage_error);
}

TEST_CASE("an expected failure must fail, and as it says") {
  const auto record_of = [](const std::string& name) { return lab::verified("moving_average/" + name); };
  SECTION("one that is right is rejected") {
    const lab::verification_record record = record_of("passes_after_all");
    REQUIRE_FALSE(record.passed);
    CHECK_FALSE(record.failed_as_expected);
    CHECK(lab::failure_message(*record.failure) ==
          "expected a stage that fails as it says (wrong), found a stage that is right on every input");
  }
  SECTION("one that fails otherwise is rejected") {
    const lab::verification_record record = record_of("fails_otherwise");
    REQUIRE_FALSE(record.passed);
    CHECK_FALSE(record.failed_as_expected);
    const std::string message = lab::failure_message(*record.failure);
    INFO(message);
    CHECK(message.find("(unwritten, or wrong: \"found inf\")") != std::string::npos);
    CHECK(message.find("another failure: wrong at index 35") != std::string::npos);
  }
  SECTION("one that fails as expected has not passed, and has no time") {
    lab::skip_without_device();
    const lab::stream stream;
    const auto found = lab::verify_and_measure(lab::find_stage("shared_tile/02_missing_barrier"),
                                               {{"width", 64}, {"height", 64}}, {1, 2}, {}, {}, stream.get());
    CHECK_FALSE(found.verification.passed);
    CHECK(found.verification.failed_as_expected);
    REQUIRE(found.verification.failure);
    // What it finds in shared memory may be what an output holds that was never written.
    CHECK((found.verification.failure->kind == failure_kind::wrong ||
           found.verification.failure->kind == failure_kind::unwritten));
    CHECK_FALSE(found.timing);
  }
#if LAB_EMULATED
  SECTION("a barrier in a branch is named") {
    const lab::verification_record record = lab::verified("shared_tile/03_divergent_barrier");
    CHECK(record.failed_as_expected);
    CHECK(lab::failure_message(*record.failure).find("03_divergent_barrier/stage.cu:") != std::string::npos);
  }
#else
  SECTION("what a device hides is not run there, and the reason is told") {
    CHECK(lab::why_not_runnable(lab::find_stage("shared_tile/03_divergent_barrier"))
              .find("compute capability 7.0") != std::string::npos);
  }
#endif
}

TEST_CASE("host and device draw the same inputs, and a change to one value is found") {
  lab::skip_without_device();
  const lab::stream stream;
  const std::int64_t n = 10'007;
  const auto kind =
      GENERATE(lab::pattern::random, lab::pattern::signed_random, lab::pattern::spikes,
               lab::pattern::nonfinite, lab::pattern::infinite, lab::pattern::denormal, lab::pattern::ramp);
  const lab::device_buffer<double> values(static_cast<std::size_t>(n), stream.get());
  const lab::device_buffer<std::int64_t> first(1, stream.get());
  const lab::device_values on_device{lab::element_type::float64, values.data(), n};
  lab::generate(on_device, kind, 5, stream.get());
  std::vector<double> host(static_cast<std::size_t>(n));
  CUDA_CHECK(
      cudaMemcpyAsync(host.data(), values.data(), values.bytes(), cudaMemcpyDeviceToHost, stream.get()));
  stream.synchronize();
  std::int64_t different = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double expected = lab::input_value<double>(kind, 5, i);
    const double found = host[static_cast<std::size_t>(i)];
    if (!(found == expected || (std::isnan(found) && std::isnan(expected)))) ++different;
  }
  CHECK(different == 0);

  const auto changed_at = [&] {
    lab::find_changed_input(on_device, kind, 5, first.data(), stream.get());
    std::int64_t found = -1;
    CUDA_CHECK(cudaMemcpyAsync(&found, first.data(), sizeof found, cudaMemcpyDeviceToHost, stream.get()));
    stream.synchronize();
    return found;
  };
  CHECK(changed_at() == n);
  const double other = 0.12345;
  CUDA_CHECK(cudaMemcpyAsync(values.data() + 77, &other, sizeof other, cudaMemcpyHostToDevice, stream.get()));
  CHECK(changed_at() == 77);
}

TEST_CASE("random inputs are never zero and evenly spread") {
  double sum = 0;
  double smallest = 1;
  double largest = 0;
  const int n = 100'000;
  for (int i = 0; i < n; ++i) {
    const double value = lab::input_value<double>(lab::pattern::random, 3, i);
    sum += value;
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
  CHECK(smallest > 0);
  CHECK(largest <= 1);
  CHECK(std::abs(sum / n - 0.5) < 0.005);  // 5 standard deviations of the mean of 1e5 uniform values
}

TEST_CASE("poison is found where it was left, and bits are hashed with their places") {
  lab::skip_without_device();
  const lab::stream stream;
  const std::int64_t n = 1000;
  const lab::device_buffer<double> values(static_cast<std::size_t>(n), stream.get());
  const lab::device_buffer<std::int64_t> first(1, stream.get());
  const lab::device_buffer<std::uint64_t> digest(1, stream.get());
  const lab::device_values on_device{lab::element_type::float64, values.data(), n};
  lab::generate(on_device, lab::pattern::ramp, 0, stream.get());
  CUDA_CHECK(cudaMemsetAsync(values.data() + 500, 0xff, sizeof(double), stream.get()));
  lab::find_poison(on_device, first.data(), stream.get());
  std::int64_t found = 0;
  CUDA_CHECK(cudaMemcpyAsync(&found, first.data(), sizeof found, cudaMemcpyDeviceToHost, stream.get()));
  stream.synchronize();
  CHECK(found == 500);

  const auto hash = [&] {
    lab::hash_bits(on_device, digest.data(), stream.get());
    std::uint64_t word = 0;
    CUDA_CHECK(cudaMemcpyAsync(&word, digest.data(), sizeof word, cudaMemcpyDeviceToHost, stream.get()));
    stream.synchronize();
    return word;
  };
  const double pair[2] = {3, 4};
  const double swapped[2] = {4, 3};
  CUDA_CHECK(cudaMemcpyAsync(values.data(), pair, sizeof pair, cudaMemcpyHostToDevice, stream.get()));
  const std::uint64_t before = hash();
  CHECK(hash() == before);
  CUDA_CHECK(cudaMemcpyAsync(values.data(), swapped, sizeof swapped, cudaMemcpyHostToDevice, stream.get()));
  CHECK(hash() != before);
}

TEST_CASE("the sampler takes as many samples as it is asked for, and stops at the time limit", "[quiet]") {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::sampling_options impossible{
      .minimum_samples = 12, .time_limit_seconds = 1e-9, .spread_target = -1};
  const lab::timing_record timing = lab::measure_floor(impossible, stream.get());
  CHECK(timing.samples.size() == 3);  // however many are the fewest, since two launches take twice the limit
  CHECK(timing.stopped_by == "time limit");
  const lab::sampling_options short_of_time{
      .minimum_samples = 12, .time_limit_seconds = 0.002, .spread_target = -1};
  CHECK(lab::measure_floor(short_of_time, stream.get()).samples.size() >= 12);
  CHECK(timing.median > 0);
  CHECK(timing.minimum <= timing.median);
  CHECK(timing.median <= timing.maximum);
  const lab::sampling_options easy{.minimum_samples = 10, .time_limit_seconds = 10, .spread_target = 1e9};
  CHECK(lab::measure_floor(easy, stream.get()).samples.size() == 10);
  CHECK(lab::measure_floor(easy, stream.get()).stopped_by == "spread");
  const lab::sampling_options endless{.minimum_samples = 10, .time_limit_seconds = 100, .spread_target = -1};
  const lab::timing_record enough = lab::measure_floor(endless, stream.get());
  CHECK(enough.samples.size() == 1000);
  CHECK(enough.stopped_by == "sample limit");
}

TEST_CASE("a measured stage was verified on two seeds, and a wrong one has no time", "[quiet]") {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::sampling_options sampling{.minimum_samples = 10, .time_limit_seconds = 0.01};
  const lab::parameter_values parameters{{"n", 5000}, {"window", 9}};
  const auto right = lab::verify_and_measure(lab::find_stage("moving_average/01_naive"), parameters, {7, 8},
                                             {}, sampling, stream.get());
  CHECK(right.verification.passed);
  CHECK(right.verification.seeds == std::vector<std::uint64_t>{7, 8});
  REQUIRE(right.timing);
  const auto wrong = lab::verify_and_measure(lab::find_stage("moving_average/off_by_one"), parameters, {7, 8},
                                             {}, sampling, stream.get());
  CHECK_FALSE(wrong.verification.passed);
  CHECK_FALSE(wrong.timing);
}

#if LAB_EMULATED
// No GPU needs so long for what a test can wait for.
TEST_CASE("every sample of a slow stage is compared in full or made again", "[quiet]") {
  const lab::stream stream;
  const lab::sampling_options sampling{.minimum_samples = 10, .time_limit_seconds = 0.01};
  const lab::parameter_values parameters{{"n", 900'000}, {"window", 2000}};
  const lab::verification_record proved{.passed = true, .cases = 1, .seeds = {7, 8}, .trials = 1};
  const auto wrong = lab::verify_and_measure(lab::find_stage("moving_average/right_when_watched"), parameters,
                                             {7, 8}, {.record = proved}, sampling, stream.get());
  CHECK_FALSE(wrong.timing);
  REQUIRE(wrong.verification.failure);
  const std::string message = lab::failure_message(*wrong.verification.failure);
  INFO(message);
  CHECK(message.find("while timed") != std::string::npos);
  const auto right = lab::verify_and_measure(lab::find_stage("moving_average/01_naive"), parameters, {7, 8},
                                             {.record = proved}, sampling, stream.get());
  CHECK(right.verification.passed);
  CHECK(right.timing);
}
#endif

TEST_CASE("references are worked out once, and none from elsewhere makes a right stage fail", quiet_on_gpu) {
  lab::skip_without_device();
  const auto verify_again = [&](const char* stage, const nlohmann::json& references) {
    return lab::worker(0).answer(
        {{"op", "verify"}, {"stage", stage}, {"trial_seed", 77}, {"references", references}});
  };
  for (const char* stage : {"moving_average/01_naive", "elementwise/01_naive"}) {
    INFO(stage);
    const lab::answer_record first = verify_again(stage, nlohmann::json::object());
    CHECK(first.end == lab::answer_end::ok);
    nlohmann::json references = first.content.at("references");
    CHECK(references.size() > 0);
    CHECK(verify_again(stage, references).end == lab::answer_end::ok);
    for (auto& [key, text] : references.items()) text = "1";
    CHECK(verify_again(stage, references).end == lab::answer_end::ok);
  }
  // What was received is used: nothing is worked out.
  lab::references::receive({{"a key", "received"}});
  CHECK(lab::references::kept("a key", [] { return "worked out"; }) == "received");
  CHECK(lab::references::distrust_received());
  CHECK(lab::references::kept("a key", [] { return "worked out"; }) == "worked out");
  CHECK_FALSE(lab::references::distrust_received());
  // A digest of sums is worked out of sums, on another thread.
  CHECK(lab::references::kept("outer", [] {
          std::string inner;
          std::thread([&] { inner = lab::references::kept("inner", [] { return "worked out"; }); }).join();
          return inner;
        }) == "worked out");
  CHECK(
      lab::worker(0).answer({{"op", "verify"}, {"stage", "elementwise/01_naive"}, {"references", 3}}).error ==
      lab::error_kind::usage);
}

TEST_CASE("a proof tells how far it is") {
  lab::skip_without_device();
  std::vector<std::string> told;
  lab::worker worker(0, [&](const std::string& what) { told.push_back(what); });
  const lab::answer_record answer =
      worker.answer({{"op", "verify"}, {"stage", "elementwise/01_naive"}, {"thorough", false}});
  REQUIRE(answer.end == lab::answer_end::ok);
  REQUIRE_FALSE(told.empty());
  CHECK(told[0].find("trial 1 of ") == 0);
}

TEST_CASE("a worker answers what it is asked, and says what is wrong with a request") {
  lab::skip_without_device();
  lab::worker worker(0);
  const auto ask = [&](const char* text) { return worker.answer(nlohmann::json::parse(text)); };
  CHECK(ask(R"({"op": "describe"})").end == lab::answer_end::ok);
  CHECK(ask(R"({"op": "verify", "stage": "elementwise/01_naive", "thorough": false})").end ==
        lab::answer_end::ok);
  CHECK(ask(R"({"op": "once", "stage": "elementwise/01_naive", "parameters": {"n": 100}})").end ==
        lab::answer_end::ok);
  CHECK(ask(R"({"op": "verify", "stage": "moving_average/off_by_one"})").end == lab::answer_end::failed);
  CHECK(ask(R"({"op": "verify", "stage": "moving_average/passes_after_all"})").end ==
        lab::answer_end::failed);
  const lab::answer_record expected = ask(R"({"op": "verify", "stage": "shared_tile/02_missing_barrier"})");
  CHECK(expected.end == lab::answer_end::ok);
  CHECK(expected.content.at("verification").at("passed") == false);
  CHECK(expected.content.at("verification").at("failed_as_expected") == true);
  CHECK(ask(R"({"op": "once", "stage": "moving_average/passes_after_all", "parameters": {"n": 100}})").end ==
        lab::answer_end::failed);
#if LAB_EMULATED
  // Whole tiles do not show the fault; the trials do.
  const lab::answer_record whole = ask(
      R"({"op": "once", "stage": "shared_tile/03_divergent_barrier", "parameters": {"width": 16, "height": 16}})");
  CHECK(whole.end == lab::answer_end::ok);
  CHECK(whole.content.at("verification").at("failed_as_expected") == true);
  lab::emulator::reset();
#endif
  for (const char* bad :
       {R"({"op": "dance"})", R"({"op": "verify"})", R"({"op": "verify", "stage": "no/where"})", R"([1])",
        R"({"op": "once", "stage": "elementwise/01_naive", "parameters": {"n": -1}})",
        R"({"op": "once", "stage": "elementwise/01_naive", "parameters": {"window": 1}})"}) {
    INFO(bad);
    const lab::answer_record answer = ask(bad);
    CHECK(answer.end == lab::answer_end::error);
    CHECK(answer.error == lab::error_kind::usage);
  }
  const lab::answer_record large =
      ask(R"({"op": "once", "stage": "elementwise/01_naive", "parameters": {"n": 281474976710656}})");
  CHECK(large.error == lab::error_kind::memory);
  CHECK(large.needed_bytes.value_or(0) > 2 * 281474976710656 * 8);
  CHECK(large.free_bytes.value_or(0) > 0);
  CHECK(worker.answer(nlohmann::json::parse(R"({"op": "describe"})")).end == lab::answer_end::ok);
  lab::worker elsewhere(99);
  CHECK(
      elsewhere.answer(nlohmann::json::parse(R"({"op": "verify", "stage": "elementwise/01_naive"})")).error ==
      lab::error_kind::environment);
}

TEST_CASE("an error just beyond the bound is told with the digits that tell them apart") {
  const lab::comparison rules{.type = lab::element_type::float64, .relative_error = 3.52e-5};
  const auto found_of = [&](double found) {
    const lab::expectation expected{.value = 1, .scale = 1};
    lab::check_result result;
    rules.judge(&expected, std::int64_t{0}, 1, &found, result);
    return result.failure ? result.failure->found : "";
  };
  CHECK(found_of(1 + 3.5e-5).empty());
  CHECK(found_of(1 + 9.61e-5)
            .ends_with(": an error of 9.6e-05 of the scale, where the bound (relative_error) is 3.5e-05"));
  CHECK(found_of(1 + 3.54e-5)
            .ends_with(": an error of 3.54e-05 of the scale, where the bound (relative_error) is 3.52e-05"));
}

TEST_CASE(
    "what has left shows by an error that is small beside the largest value, and large for its own output") {
  const lab::comparison rules{.type = lab::element_type::float64,
                              .relative_error = 1e-12,
                              .min_scale = 1e100,
                              .first_excused = 0,
                              .drift = 1e88};
  const auto drifted = [&](double found) {
    const lab::expectation expected{.value = 1, .scale = 1};
    lab::check_result result;
    rules.judge(&expected, std::int64_t{0}, 1, &found, result);
    CHECK(!result.failure);
    return result.drifted;
  };
  CHECK(drifted(2));
  CHECK(!drifted(1 + 1e-13));
}
