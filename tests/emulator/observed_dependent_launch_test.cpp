// The kernels of dependent_launch_test.cpp, observed.
#include "common/emulator/observe/observation.hpp"
#include "tests/emulator/dependent_launch_test.cpp"

#include <optional>
#include <tuple>

namespace {

// What is said of the second kernel's first launch.
std::string said_of(kernel first, kernel second, bool is_deferred) {
  const device_array<int> input(n), middle(n), output(n);
  const arrays all{input.get(), middle.get(), output.get()};
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  cudaMemsetAsync(all.input, 1, n * sizeof(int), stream);
  cudaMemsetAsync(all.middle, 0, n * sizeof(int), stream);
  try {
    std::optional<lab::emulator::deferred_streams> deferred;
    if (is_deferred) deferred.emplace(0);
    lab::launch(first, dim3(blocks), dim3(threads), 0, stream, all);
    lab::launch_early(second, dim3(blocks), dim3(threads), 0, stream, all);
  } catch (const std::exception&) {
  }
  const auto texts = lab::emulator::take_diagnostics();
  lab::emulator::reset();
  cudaStreamDestroy(stream);
  return texts.empty() ? "" : texts.front();
}

}  // namespace

TEST_CASE("observed: a kernel that begins early and touches what the one before may still use is named") {
  lab::emulator::configure({.reverse = GENERATE(false, true)});
  lab::emulator::reset();
  const bool is_deferred = GENERATE(false, true);
  const lab::emulator::observation watching;
  for (const kernel second : {adds, adds_where_one_thread_waits, adds_what_it_polls_for})
    CHECK(said_of(doubles, second, is_deferred).empty());
  CHECK(said_of(doubles_and_never_triggers, adds_before_it_waits, is_deferred).empty());
  CHECK(watching.faults().empty());
  constexpr const char* file = "tests/emulator/dependent_launch_test.cpp";
  const std::tuple<kernel, int, const char*> mistakes[] = {
      {adds_before_it_waits, early_line, "reads"},
      {adds_where_one_warp_waits, warp_line, "reads"},
      {adds_where_one_block_waits, block_line, "reads"},
      {adds_and_clears_before_it_waits, clear_line, "writes"}};
  for (const auto& [second, line, verb] : mistakes) {
    const std::string text = said_of(doubles, second, is_deferred);
    INFO(text);
    CHECK(text.starts_with(at(file, line) + ": "));
    CHECK(text.find(std::string(verb) + " device memory that thread (") != std::string::npos);
    CHECK(text.find("doubles ") != std::string::npos);
    CHECK(text.find(at(file, input_line) + ", which may still run: ") != std::string::npos);
  }
}
