// What a submission's checks refuse on the device of this build before it has a time for its grade: kernels
// that are right wherever `lab check` looks, and wrong at the sizes that are measured.
#include <string>

#include "harness/front/grade/time_against_reference.hpp"
#include "harness/front/process/errors.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"

namespace {

lab::front::time_against_reference against(const std::string& stage, lab::parameter_values parameters) {
  return {{{LAB_WRONG_WORKER, "--device", "0"}, stage},
          {.parameters = std::move(parameters),
           .sampling = {.time_limit_seconds = 0.05,
                        .l2 = lab::emulated ? lab::cache_state::none : lab::cache_state::cold}}};
}

// Whether a stage of the wrong kernels is refused with these words.
void refused(const lab::front::time_against_reference& reference, const std::string& stage,
             const std::string& words) {
  const auto found = reference.time({{LAB_WRONG_WORKER, "--device", "0"}, stage});
  INFO(stage << ": " << found.fault);
  CHECK(!found.ratio);
  CHECK(found.fault.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("a submission that is right until it is measured has no time") {
  lab::skip_without_device();
  const auto elementwise =
      against("elementwise/01_naive", {{"n", lab::parameter_value(std::int64_t{1'000'000})}});
  refused(elementwise, "elementwise/one_wrong_at_size", "wrong at index 333334");
  // An answer that is kept from launch to launch, and one that is left out while nobody looks.
  const auto moving_average =
      against("moving_average/01_naive", {{"n", lab::parameter_value(std::int64_t{31'000})},
                                          {"window", lab::parameter_value(std::int64_t{30})}});
  refused(moving_average, "moving_average/returns_previous",
          lab::emulated ? "cudaMalloc in a launch" : "wrong at index");
  refused(moving_average, "moving_average/right_when_watched", "while timed");
  refused(moving_average, "moving_average/leaves_tail", "was never written");
}
