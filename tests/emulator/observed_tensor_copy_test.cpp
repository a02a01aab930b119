// The copies of tensor_copy_test.cpp, of observed kernels.
#include "common/emulator/observe/observation.hpp"
#include "tests/emulator/tensor_copy_test.cpp"

TEST_CASE("observed: a box that is read before it has landed is told with both lines", "[tensor]") {
  lab::emulator::configure({.reverse = GENERATE(false, true)});
  const auto faults_of = [](tensor_mistake wrong) {
    lab::emulator::reset();
    const lab::emulator::observation watching;
    const std::string text = outcome_of(wrong).first;
    return std::pair(text, watching.faults());
  };
  CHECK(faults_of(tensor_mistake::none).second.empty());
  const auto [text, faults] = faults_of(tensor_mistake::no_wait);
  for (const lab::emulator::observed_fault& one : faults) UNSCOPED_INFO(one.text);
  const std::string words = "reads shared memory that a tensor copy of thread (0,0,0) at " +
                            at("tests/emulator/tensor_copy_test.cpp", copy_line + 2) +
                            " may still be writing";
  CHECK(std::any_of(faults.begin(), faults.end(), [&](const lab::emulator::observed_fault& one) {
    return one.text.find(words) != std::string::npos;
  }));
}
