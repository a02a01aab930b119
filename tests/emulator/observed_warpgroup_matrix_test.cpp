// The pipeline of warpgroup_matrix_test.cpp, of an observed kernel: what is wrong is told with both lines.
#include "common/emulator/observe/observation.hpp"
#include "tests/emulator/warpgroup_matrix_test.cpp"

namespace {

std::vector<std::string> faults_of(mistake wrong) {
  lab::emulator::reset();
  const lab::emulator::observation watching;
  std::vector<std::string> texts = outcome_of(wrong).texts;
  for (const lab::emulator::observed_fault& one : watching.faults()) texts.push_back(one.text);
  for (const std::string& text : texts) UNSCOPED_INFO(text);
  return texts;
}

}  // namespace

TEST_CASE("observed: a right pipeline of tensor copies and wgmma has no race", "[warpgroup]") {
  lab::emulator::configure({.reverse = GENERATE(false, true)});
  CHECK(faults_of(mistake::none).empty());
  CHECK(faults_of(mistake::none_one_behind).empty());
}

TEST_CASE("observed: tiles that are multiplied before they have landed, or filled while they are",
          "[warpgroup]") {
  lab::emulator::configure({.reverse = GENERATE(false, true)});
  CHECK(one_says(faults_of(mistake::no_wait_for_copies),
                 "reads shared memory that a tensor copy of thread (128,0,0) at "));
  CHECK(one_says(faults_of(mistake::early_arrival), "writes shared memory that a product of thread ("));
}
