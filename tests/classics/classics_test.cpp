// The repertory is right and silent, its counters are those that follow by hand, and each of its mistakes is
// named.
#include <map>
#include <string>

#include "common/emulator/core/emulator.hpp"
#include "common/emulator/observe/observation.hpp"
#include "tests/catch.hpp"
#include "tests/classics/broken.hpp"
#include "tests/textbook/textbook.hpp"

namespace {

// As in the textbook's test: requests and sectors of global loads, and of stores; wavefronts of shared loads,
// and of stores. 1024 elements are 32 warps, of 4 sectors a request.
struct figures {
  double load_requests, load_sectors, store_requests, store_sectors, load_wavefronts, store_wavefronts;
};

const std::map<std::string, figures> expected{
    {"saxpy", {64, 256, 32, 128, 0, 0}},
    {"saxpy, grid-stride loop", {64, 256, 32, 128, 0, 0}},
    {"saxpy, vectors", {16, 256, 8, 128, 0, 0}},
    {"reverse", {32, 128, 32, 128, 32, 32}},
    // 64 x 64 elements are 128 warps; a column of 32 elements lies in 32 sectors, or in one bank.
    {"transpose, naive", {128, 512, 128, 128 * 32, 0, 0}},
    {"transpose, tile", {128, 512, 128, 512, 128 * 32, 128}},
    {"transpose, padded tile", {128, 512, 128, 512, 128, 128}},
    {"transpose, swizzled tile", {128, 512, 128, 512, 128, 128}},
    // 4 blocks of 8 warps.
    {"sum, shuffles", {32, 128, 4, 4, 4, 32}},
    {"sum, one pass", {33, 132, 33, 33, 32, 32}},
    {"dot product", {64, 256, 1, 1, 0, 0}},
    {"scan, warps", {8, 32, 8, 32, 28, 8}},
    {"histogram, global", {32, 128, 0, 0, 0, 0}},
    // Of five loads that begin 0 to 16 bytes behind a multiple of 32, one hangs over nowhere.
    {"stencil, global", {160, 32 * (4 + 4 * 5), 32, 128, 0, 0}},
    {"convolution, constant memory", {160, 32 * (4 + 4 * 5), 32, 128, 0, 0}},
    // Half warps stand side by side: 64 steps, each with 2 rows of a and a line of b.
    {"product, rows first", {128 * 128, 128 * 64 * (2 + 2), 128, 128 * 4, 0, 0}},
    // In each of 4 rounds two tiles of 8 warps, and 16 steps.
    {"product, tiles", {1024, 1024 * 4, 128, 512, 128 * 64 * 2, 1024}},
    {"product with a vector", {256, 1024, 64, 64, 0, 0}},
    {"softmax, warp", {128, 512, 128, 512, 0, 0}},
    {"layer norm", {128, 512, 128, 512, 0, 0}},
    // Every lane reads the same element: one sector.
    {"bodies, global", {32 + 32 * 1024, 128 + 32 * 1024, 32, 128, 0, 0}},
    {"bodies, tiles", {32 + 128, 128 + 512, 32, 128, 32 * 1024, 128}}};

}  // namespace

TEST_CASE(
    "classics: each is right in either order of the threads, without a word, and counts as it follows by "
    "hand") {
  CHECK(lab::textbook::examples().size() >= 40);
  for (const bool reverse : {false, true}) {
    lab::emulator::configure({.reverse = reverse});
    for (const lab::textbook::example& example : lab::textbook::examples()) {
      INFO(example.name);
      lab::emulator::reset();
      const lab::emulator::observation observation;
      CHECK_NOTHROW(example.run());
      for (const auto& fault : observation.faults()) UNSCOPED_INFO(fault.text);
      CHECK(observation.faults().empty());
      for (const auto& warning : observation.warnings()) UNSCOPED_INFO(warning);
      // Lanes that have left before a barrier are the one thing that may be said.
      CHECK(observation.warnings().size() <= 1);
      const auto found = expected.find(example.name);
      if (found == expected.end()) continue;
      const auto kernels = observation.kernels();
      REQUIRE(kernels.size() == 1);
      const auto value = [&](const char* name) { return kernels[0].metrics.at(name); };
      CHECK(value("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") == found->second.load_requests);
      CHECK(value("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") == found->second.load_sectors);
      CHECK(value("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum") == found->second.store_requests);
      CHECK(value("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum") == found->second.store_sectors);
      CHECK(value("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") == found->second.load_wavefronts);
      CHECK(value("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum") == found->second.store_wavefronts);
    }
  }
  lab::emulator::configure({});
}

TEST_CASE("classics: each mistake is named with its line, kernel, block and thread") {
  CHECK(lab::classics::broken_kernels().size() >= 20);
  lab::emulator::configure({.threads = 1});
  for (const auto& broken : lab::classics::broken_kernels()) {
    lab::emulator::reset();
    INFO(broken.name);
    {
      const lab::emulator::observation observation;
      broken.run();
    }
    const auto said = lab::emulator::take_diagnostics();
    REQUIRE(!said.empty());
    INFO(said[0]);
    CHECK(said[0].find("tests/classics/broken.cu:") == 0);
    std::size_t position = said[0].find("::" + broken.name + ": ");
    CHECK(position != std::string::npos);
    for (const std::string& part : broken.parts) {
      INFO("wanted: " << part);
      position = said[0].find(part, position == std::string::npos ? 0 : position);
      CHECK(position != std::string::npos);
    }
  }
  lab::emulator::reset();
  lab::emulator::configure({});
}
