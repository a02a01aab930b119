// The pipelines of bulk_copy_test.cpp, of observed kernels: what is wrong with them is told with both lines.
#include "common/emulator/observed/observation.hpp"
#include "tests/emulator/bulk_copy_test.cpp"

namespace {

// Of six launches, whose copies end in different orders, and both orders of the threads.
std::vector<std::string> faults_of(mistake wrong) {
  std::vector<std::string> texts;
  for (const bool reverse : {false, true}) {
    lab::emulator::configure({.reverse = reverse});
    lab::emulator::reset();
    const lab::emulator::observation watching;
    for (std::string& text : results_of(wrong, 8).texts) texts.push_back(std::move(text));
    for (const lab::emulator::observed_fault& one : watching.faults()) texts.push_back(one.text);
  }
  lab::emulator::reset();
  return texts;
}

bool one_says(const std::vector<std::string>& texts, const std::string& words) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("observed: a right pipeline of bulk copies has no race, and its copies are not counted", "[bulk]") {
  lab::emulator::configure({.reverse = GENERATE(false, true)});
  lab::emulator::reset();
  const lab::emulator::observation watching;
  CHECK(results_of(mistake::none, 8).is_right);
  CHECK(watching.faults().empty());
  for (const lab::emulator::observed_fault& one : watching.faults()) UNSCOPED_INFO(one.text);
  const auto kernels = watching.kernels();
  REQUIRE(kernels.size() == 1);
  CHECK(kernels.front().metrics.at("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") == 0);
}

TEST_CASE("observed: a tile read before it has landed, or filled while it is read", "[bulk]") {
  const std::string of_copy =
      "shared memory that a bulk copy of thread (32,0,0) at tests/emulator/bulk_copy_test.cpp:" +
      std::to_string(copy_in_line) + " may still be writing";
  CHECK(one_says(faults_of(mistake::no_wait_for_full), "reads " + of_copy));
  CHECK(one_says(faults_of(mistake::late_phase), "reads " + of_copy));
  CHECK(one_says(faults_of(mistake::no_wait_for_empty), "thread (32,0,0) arrives once too often in phase 0"));
  const auto refilled = faults_of(mistake::early_refill);
  for (const std::string& text : refilled) UNSCOPED_INFO(text);
  CHECK(one_says(refilled, "reads " + of_copy));
  CHECK(one_says(refilled, "thread (32,0,0) writes shared memory that thread ("));
}

TEST_CASE("observed: results written over while they are copied out", "[bulk]") {
  const std::string of_copy =
      "writes shared memory that a bulk copy of thread (64,0,0) at tests/emulator/bulk_copy_test.cpp:" +
      std::to_string(copy_out_line) + " may still be reading";
  CHECK(one_says(faults_of(mistake::no_commit), of_copy));
  CHECK_FALSE(faults_of(mistake::no_wait_for_stores).empty());
}
