// The figures that follow from the rules by hand.
#include <map>
#include <string>

#include "common/emulator/observe/observation.hpp"
#include "tests/catch.hpp"
#include "tests/textbook/textbook.hpp"

namespace {

// Requests and sectors of global loads, and of stores; wavefronts and bank conflicts of shared loads, and of
// stores.
struct figures {
  double load_requests, load_sectors, store_requests, store_sectors;
  double load_wavefronts, load_conflicts, store_wavefronts, store_conflicts;
};

const std::map<std::string, figures> expected{
    // 1024 elements are 32 warps; 32 lanes of 4 bytes side by side are 4 sectors of 32 bytes.
    {"copy, 4 bytes, stride 1", {32, 32 * 4, 32, 32 * 4, 0, 0, 0, 0}},
    {"copy, 4 bytes, stride 2", {32, 32 * 8, 32, 32 * 4, 0, 0, 0, 0}},
    {"copy, 4 bytes, stride 32", {32, 32 * 32, 32, 32 * 4, 0, 0, 0, 0}},
    {"copy, 8 bytes, stride 1", {32, 32 * 8, 32, 32 * 8, 0, 0, 0, 0}},
    {"copy, 8 bytes, stride 2", {32, 32 * 16, 32, 32 * 8, 0, 0, 0, 0}},
    {"copy, 8 bytes, stride 32", {32, 32 * 32, 32, 32 * 8, 0, 0, 0, 0}},
    {"copy, 16 bytes, stride 1", {32, 32 * 16, 32, 32 * 16, 0, 0, 0, 0}},
    {"copy, 16 bytes, stride 2", {32, 32 * 32, 32, 32 * 16, 0, 0, 0, 0}},
    {"copy, 16 bytes, stride 32", {32, 32 * 32, 32, 32 * 16, 0, 0, 0, 0}},
    // One sector more, for what hangs over.
    {"copy, 4 bytes, base misaligned by 4", {32, 32 * 5, 32, 32 * 4, 0, 0, 0, 0}},
    {"copy, 8 bytes, base misaligned by 8", {32, 32 * 9, 32, 32 * 8, 0, 0, 0, 0}},
    // 31 warps and 8 lanes, which are one sector.
    {"copy, 4 bytes, the last warp partial", {32, 31 * 4 + 1, 32, 31 * 4 + 1, 0, 0, 0, 0}},
    {"broadcast from global memory", {32, 32, 32, 32 * 4, 0, 0, 0, 0}},
    // 128 x 128 elements are 512 rows of a warp; a column of an unpadded tile lies in one bank.
    {"transpose, unpadded tile", {512, 512 * 4, 512, 512 * 4, 512 * 32, 512 * 31, 512, 0}},
    {"transpose, padded tile", {512, 512 * 4, 512, 512 * 4, 512, 0, 512, 0}},
    {"shared memory, 4 bytes, stride 1", {0, 0, 1, 4, 1, 0, 1, 0}},
    {"shared memory, 4 bytes, stride 2", {0, 0, 1, 4, 2, 1, 2, 1}},
    {"shared memory, 4 bytes, stride 32", {0, 0, 1, 4, 32, 31, 32, 31}},
    // Two halves of a warp, each with two words per lane in 32 banks.
    {"shared memory, 8 bytes, stride 1", {0, 0, 1, 8, 2, 0, 2, 0}},
    {"shared memory, 8 bytes, stride 2", {0, 0, 1, 8, 4, 2, 4, 2}},
    {"shared memory, 16 bytes, stride 1", {0, 0, 1, 16, 4, 0, 4, 0}},
    {"shared memory, 16 bytes, stride 2", {0, 0, 1, 16, 8, 4, 8, 4}},
    {"shared memory, 4 bytes, broadcast", {0, 0, 1, 4, 1, 0, 1, 0}},
    {"shared memory, 8 bytes, broadcast", {0, 0, 1, 8, 1, 0, 2, 0}},
    {"shared memory, 16 bytes, broadcast", {0, 0, 1, 16, 2, 0, 4, 0}},
    {"sum by shuffles", {32, 32 * 4, 32, 32, 0, 0, 0, 0}},
    // Round k is made by lanes k to 31: 4 sectors for the first 8 rounds, then 3, 2 and 1.
    {"loop, lane l goes round l + 1 times", {32, 8 * (4 + 3 + 2 + 1), 1, 4, 0, 0, 0, 0}},
    // Each of 4 rounds: once all lanes, then three times every second lane. All lie in 4 sectors.
    {"nested loops, odd and even lanes differ", {16, 16 * 4, 1, 4, 0, 0, 0, 0}},
    {"branch, odd and even lanes part", {3, 3 * 4, 1, 4, 0, 0, 0, 0}}};

}  // namespace

TEST_CASE("the examples of the textbook have the counters that follow by hand") {
  for (const lab::textbook::example& example : lab::textbook::examples()) {
    INFO(example.name);
    const lab::emulator::observation observation;
    example.run();
    const auto kernels = observation.kernels();
    REQUIRE(kernels.size() == 1);
    CHECK(kernels[0].launches == 1);
    const auto value = [&](const char* name) { return kernels[0].metrics.at(name); };
    const figures& figures = expected.at(example.name);
    CHECK(value("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") == figures.load_requests);
    CHECK(value("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") == figures.load_sectors);
    CHECK(value("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum") == figures.store_requests);
    CHECK(value("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum") == figures.store_sectors);
    CHECK(value("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") == figures.load_wavefronts);
    CHECK(value("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum") == figures.load_conflicts);
    CHECK(value("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum") == figures.store_wavefronts);
    CHECK(value("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum") == figures.store_conflicts);
    CHECK(observation.faults().empty());
    CHECK(observation.warnings().empty());
  }
}
