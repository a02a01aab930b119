// The redaction's workload: what it accepts, what it measures, and what happens when memory runs out.
#include <limits>
#include <string>
#include <vector>

#include "common/memory.hpp"
#include "common/memory_resource.hpp"
#include "common/stream.hpp"
#include "harness/device/measure/timed_launches.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"
#include "stages/redact/problem.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"
#include "tests/redact/support.hpp"
#if LAB_EMULATED
#include "common/emulator/core/emulator.hpp"
#endif

namespace {

using namespace lab::redact;
using lab::allocator;

const lab::stage_entry& right_stage() {
  return lab::find_stage("redact/04_two_pass");
}

lab::parameter_values with(std::int64_t rows, content kind, allocator from, std::int64_t offsets = 32) {
  return {{"rows", rows},
          {"content", static_cast<std::int64_t>(kind)},
          {"allocator", static_cast<std::int64_t>(from)},
          {"offsets", offsets}};
}

std::unique_ptr<lab::workload> make(const lab::parameter_values& values, const lab::stream& stream) {
  return lab::track_of(right_stage()).make(right_stage(), values, stream.get());
}

}  // namespace

TEST_CASE("a redaction is right from every allocator, again and again, and gives all memory back") {
  lab::skip_without_device();
  const lab::stream stream;
  const std::size_t before = lab::memory::in_use();
  for (const allocator from : {allocator::plain, allocator::pool, allocator::none}) {
    INFO(static_cast<int>(from));
    const auto work = make(with(3000, content::hostile, from, 64), stream);
    for (const std::uint64_t seed : {1, 2}) {
      const lab::check_result found = lab::run_and_check(*work, {.seed = seed}, stream.get());
      INFO((found.failure ? lab::failure_message(*found.failure) : std::string("no failure")));
      CHECK_FALSE(found.failure);
      CHECK(found.compared == 3000);
      const std::uint64_t bits = work->digest();
      for (int k = 0; k < 3; ++k) {
        work->poison();
        work->launch();
        CHECK(work->digest() == bits);
        CHECK_FALSE(work->check().failure);
      }
    }
    const std::uint64_t bits = work->digest();
    CHECK_FALSE(lab::run_and_check(*work, {.seed = 3}, stream.get()).failure);
    CHECK(work->digest() != bits);
    CHECK(work->capturable() == (from == allocator::none));
  }
  CHECK(lab::memory::in_use() == before);
}

TEST_CASE("output that is not given back before the next launch is a mistake of the harness") {
  lab::skip_without_device();
  const lab::stream stream;
  const auto work = make(with(10, content::people, allocator::pool), stream);
  work->prepare(lab::pattern::random, 1);
  CHECK_THROWS_AS(work->check(), std::logic_error);
  work->launch();
  CHECK_THROWS_AS(work->launch(), std::logic_error);
}

TEST_CASE("a stage that runs out of memory says so, wherever that is, and leaks nothing") {
  lab::skip_without_device();
  const lab::stream stream;
  const std::size_t before = lab::memory::in_use();
  for (const allocator from : {allocator::pool, allocator::none}) {
    for (const bool checked : {true, false}) {
      INFO(static_cast<int>(from) << " " << checked);
      const auto work = make(with(1000, content::people, from), stream);
      work->prepare(lab::pattern::random, 1);
      if (!checked) {
        work->launch();
        CHECK_FALSE(work->check().failure);
        work->poison();
      }
      const std::size_t prepared = lab::memory::in_use();
      int failures = 0;
      for (int nth = 1;; ++nth) {
        lab::memory::fail_after(nth);
        try {
          work->launch();
          break;
        } catch (const lab::memory_error&) {
          ++failures;
        }
        // The arena keeps what it could get.
        if (from == allocator::pool && !checked) CHECK(lab::memory::in_use() == prepared);
        if (checked) work->prepare(lab::pattern::random, 1);
      }
      lab::memory::fail_after(0);
      CHECK(failures >= (from == allocator::none && !checked ? 0 : 2));
      CHECK_FALSE(work->check().failure);
    }
  }
  CHECK(lab::memory::in_use() == before);
}

#if LAB_EMULATED
TEST_CASE("cudaMalloc that finds no memory is a memory_error") {
  const lab::stream stream;
  const auto work = make(with(1000, content::people, allocator::plain), stream);
  work->prepare(lab::pattern::random, 1);
  const lab::emulator::options usual = lab::emulator::configuration();
  lab::emulator::options none = usual;
  none.memory_bytes = 1 << 16;
  lab::emulator::configure(none);
  CHECK_THROWS_AS(work->launch(), lab::memory_error);
  lab::emulator::configure(usual);
  work->prepare(lab::pattern::random, 1);
  work->launch();
  CHECK_FALSE(work->check().failure);
}
#endif

#if !LAB_EMULATED
// The emulator's heap is the host's.
TEST_CASE("a device heap that is exhausted is reported, and all of it is free again") {
  lab::skip_without_device();
  const lab::stream stream;
  if (lab::memory::available() < std::size_t{3} << 30) LAB_SKIP("it takes 3 GiB of device memory");
  const auto launch =
      static_cast<const lab::stage<problem>*>(lab::find_stage("redact/02_device_malloc").typed)->launch;
  // First names that do not fit into 2^30 bytes together.
  constexpr int rows = 20'000;
  constexpr int name_bytes = 64 * 1024;
  std::vector<int> name_offsets(rows + 1);
  std::vector<int> visibility_offsets(rows + 1);
  std::string visible;
  for (int row = 0; row <= rows; ++row) {
    name_offsets[row] = row * name_bytes;
    visibility_offsets[row] = row * 6;
    if (row < rows) visible += "public";
  }
  const lab::device_buffer<char> names(std::size_t{rows} * name_bytes, stream.get());
  const lab::device_buffer<int> of_names(rows + 1, stream.get());
  const lab::device_buffer<char> visibilities(visible.size(), stream.get());
  const lab::device_buffer<int> of_visibilities(rows + 1, stream.get());
  CUDA_CHECK(cudaMemsetAsync(names.data(), 'a', names.bytes(), stream.get()));
  const auto copy = [&](void* to, const void* from, std::size_t bytes) {
    CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream.get()));
  };
  copy(of_names.data(), name_offsets.data(), of_names.bytes());
  copy(of_visibilities.data(), visibility_offsets.data(), of_visibilities.bytes());
  copy(visibilities.data(), visible.data(), visible.size());
  lab::pool_resource resource;
  const auto redact = [&](int count) {
    const output written = launch({{of_names.data(), names.data(), std::int64_t{count} * name_bytes},
                                   {of_visibilities.data(), visibilities.data(), std::int64_t{count} * 6},
                                   count,
                                   32},
                                  resource, stream.get());
    resource.deallocate(written.offsets, (static_cast<std::size_t>(count) + 1) * sizeof(int), stream.get());
    resource.deallocate(written.chars, static_cast<std::size_t>(written.chars_capacity), stream.get());
    CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    return written.chars_capacity;
  };
  const std::size_t before = lab::memory::in_use();
  for (int time = 0; time < 3; ++time) {
    std::string message;
    try {
      redact(rows);
    } catch (const lab::unsupported_error& error) {
      message = error.what();
    }
    CHECK(message.find("rows got no memory: the device's heap of 1073741824 bytes is exhausted") !=
          std::string::npos);
    CHECK(lab::memory::in_use() == before);
    // A quarter of the heap, which is not there unless the rows of the launch before were freed.
    CHECK(redact(rows / 5) == std::int64_t{rows / 5} * (name_bytes + 1));
  }
}
#endif

TEST_CASE("a redaction is measured with each allocator, and its time is checked on both sides") {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::sampling_options sampling{.minimum_samples = 10, .time_limit_seconds = 0.01};
  for (const allocator from : {allocator::plain, allocator::pool, allocator::none}) {
    const auto found = lab::verify_and_measure(right_stage(), with(2000, content::people, from), {7, 8}, {},
                                               sampling, stream.get());
    INFO((found.verification.failure ? lab::failure_message(*found.verification.failure)
                                     : std::string("no failure")));
    CHECK(found.verification.passed);
    REQUIRE(found.timing);
    // 04_two_pass waits for the device in the middle: no graph can hold it, however short it is.
    CHECK(found.timing->method == (lab::emulated ? "host clock" : "events"));
    CHECK(found.timing->launches_per_sample == 1);
  }
}

TEST_CASE("a stage with its trials behind it passes at its next row, where its blocks wait for each other") {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::sampling_options sampling{.minimum_samples = 3, .time_limit_seconds = 0.01};
  const lab::stage_entry& stage = lab::find_stage("redact/06_single_pass");
  const auto first = lab::verify_and_measure(stage, with(2000, content::people, allocator::pool), {7, 8}, {},
                                             sampling, stream.get());
  REQUIRE(first.verification.passed);
  for (const allocator from : {allocator::none, allocator::plain}) {
    const auto next = lab::verify_and_measure(stage, with(2000, content::people, from), {7, 8},
                                              {.record = first.verification}, sampling, stream.get());
    INFO((next.verification.failure ? lab::failure_message(*next.verification.failure)
                                    : std::string("no failure")));
    CHECK(next.verification.passed);
    CHECK(next.timing);
    // What is handed on counts, and none of it is made again.
    CHECK(next.verification.trials >= first.verification.trials);
    CHECK(next.verification.trials < first.verification.trials + 50);
  }
}

TEST_CASE("the ceiling is a copy of both inputs and the output, to the byte") {
  const lab::track& track = lab::find_track("redact");
  for (const std::int64_t offsets : {32, 64}) {
    const auto values = with(1234, content::hostile, allocator::none, offsets);
    const people data = make_people(content::hostile, 1234, 5);
    const lab::ceiling_need need = track.ceiling(values, 5);
    CHECK(need.kind == "copy");
    CHECK(need.bytes ==
          3 * 1235 * offsets / 8 + data.names.bytes() + data.visibilities.bytes() + redacted(data).bytes());
    // No name need be read where nobody is public.
    CHECK(track.ceiling(with(1234, content::all_private, allocator::none, offsets), 5).bytes ==
          2 * 1235 * offsets / 8 + make_people(content::all_private, 1234, 5).visibilities.bytes() +
              3 * 1234);
  }
}

TEST_CASE("characters beyond 32 bits need 64, and parameters are checked") {
  const lab::track& track = lab::find_track("redact");
  const auto why = [&](std::int64_t rows, std::int64_t offsets) {
    return track.unsupported(right_stage(), with(rows, content::people, allocator::plain, offsets));
  };
  CHECK(why(100'000'000, 32).empty());
  CHECK(why(200'000'000, 32).find("take --offsets 64") != std::string::npos);
  CHECK(why(200'000'000, 64).empty());
  CHECK_THROWS_WITH(track.complete({{"allocator", 3}}),
                    "allocator cannot be 3: it is one of plain, pool, none");
  CHECK_THROWS_WITH(track.complete({{"n", 3}}), "no parameter is called n");
  CHECK(track.complete({}).at("offsets") == "int32");
  CHECK(track.complete({{"offsets", 64}}).at("offsets") == "int64");
}
