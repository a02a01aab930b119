// The fragments of matrix_units_test.cpp, of observed kernels: what their rows cost, and races.
#include "common/emulator/observe/observation.hpp"
#include "tests/emulator/matrix_units_test.cpp"

namespace {

constexpr int written_line = __LINE__ + 4;
__global__ void load_rows(unsigned* to, int words_in_row, bool waits) {
  __shared__ __align__(16) unsigned tile[32 * 32];
  unsigned d[4];
  for (unsigned k = threadIdx.x; k < 32 * 32; k += 32) tile[k] = k;
  if (waits) __syncwarp();
  lab::load_matrix_x4(d, tile + threadIdx.x * static_cast<unsigned>(words_in_row));
  to[threadIdx.x] = d[0] + d[3];
}

double wavefronts_of(int words_in_row) {
  lab::emulator::reset();
  const device_array<unsigned> to(32);
  const lab::emulator::observation watching;
  run(load_rows, 1, 32, to.get(), words_in_row, true);
  CHECK(watching.faults().empty());
  return watching.kernels().front().metrics.at("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum");
}

}  // namespace

TEST_CASE("observed: ldmatrix reads a matrix in one wavefront, or in as many as rows share banks",
          "[matrix]") {
  lab::emulator::configure({});
  CHECK(wavefronts_of(4) == 4);
  CHECK(wavefronts_of(20) == 4);
  CHECK(wavefronts_of(8) == 8);
  CHECK(wavefronts_of(32) == 32);
}

TEST_CASE("observed: rows that other lanes write need a __syncwarp() before ldmatrix", "[matrix]") {
  lab::emulator::configure({.reverse = GENERATE(false, true)});
  lab::emulator::reset();
  const device_array<unsigned> to(32);
  const lab::emulator::observation watching;
  try_launch(load_rows, 1, 32, 0, to.get(), 4, false);
  lab::emulator::reset();
  REQUIRE_FALSE(watching.faults().empty());
  INFO(watching.faults().front().text);
  CHECK(watching.faults().front().text.find(at(__FILE__, written_line)) != std::string::npos);
}
