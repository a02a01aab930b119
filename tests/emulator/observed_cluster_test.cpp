// The clusters of cluster_test.cpp, of observed kernels.
#include "common/emulator/observe/observation.hpp"
#include "tests/emulator/cluster_test.cpp"

TEST_CASE("observed: right clusters have no fault", "[cluster]") {
  lab::emulator::configure({.reverse = GENERATE(false, true)});
  lab::emulator::reset();
  const lab::emulator::observation watching;
  const cluster_outcome all[] = {sums<8>(sum_mistake::none), rotations(ring_mistake::none),
                                 broadcasts(multicast_mistake::none, false),
                                 broadcasts(multicast_mistake::none, true)};
  for (const cluster_outcome& one : all) {
    CHECK(one.texts == std::vector<std::string>{});
    CHECK(one.failed + one.wrong == 0);
  }
  for (const lab::emulator::observed_fault& one : watching.faults()) UNSCOPED_INFO(one.text);
  CHECK(watching.faults().empty());
  CHECK(watching.warnings().empty());
  for (const lab::emulator::observed_kernel& one : watching.kernels())
    CHECK(one.metrics.at("launch__cluster_size") == (one.name.find("sum_of") != std::string::npos ? 8 : 4));
}

TEST_CASE("observed: a neighbour that has left is named with the line of the access", "[cluster]") {
  lab::emulator::configure({});
  lab::emulator::reset();
  const lab::emulator::observation watching;
  const cluster_outcome late = sums<2>(sum_mistake::no_last_sync);
  CHECK(late.failed > 0);
  CHECK(each_says(late, {at("tests/emulator/cluster_test.cpp", read_line)}));
  CHECK(each_says(late, {"which has left the kernel"}));
}
