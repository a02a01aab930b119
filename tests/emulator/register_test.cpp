// Registers that warpgroups give and take.
#include "common/bulk_copy.hpp"
#include "tests/emulator/support.hpp"

namespace {

// 384 threads have at most 168 registers each: 65536 / 384, in multiples of 8.
constexpr int take_line = __LINE__ + 7;
template <int given, int taken>
__global__ void pass_registers(int* out) {
  const unsigned group = threadIdx.x / 128;
  if (group == 0) {
    lab::give_registers<given>();
  } else {
    lab::take_registers<taken>();
  }
  __syncthreads();  // no warpgroup has left the kernel until here
  out[threadIdx.x] = static_cast<int>(group);
}

constexpr int rise_line = __LINE__ + 3;
__global__ void gives_more_than_it_has() {
  lab::give_registers<40>();
  lab::give_registers<48>();
}
constexpr int fall_line = __LINE__ + 2;
__global__ void takes_less_than_it_has() {
  lab::take_registers<64>();
}
constexpr int odd_line = __LINE__ + 2;
__global__ void takes_an_odd_number() {
  lab::take_registers<100>();
}
constexpr int warp_line = __LINE__ + 2;
__global__ void one_warp_gives() {
  if (threadIdx.x < 32) lab::give_registers<32>();
}
constexpr int first_line = __LINE__ + 4;
constexpr int second_line = __LINE__ + 5;
__global__ void warps_disagree() {
  if (threadIdx.x < 64) {
    lab::give_registers<32>();
  } else {
    lab::give_registers<40>();
  }
}

}  // namespace

TEST_CASE("warpgroups take the registers that others give", "[registers]") {
  for_each_schedule();
  const device_array<int> out(std::size_t{384}, -1);
  run(pass_registers<24, 240>, 2, 384, out.get());
  CHECK(out.values()[0] == 0);
  CHECK(out.values()[383] == 2);
  // 168 at launch and (2 * 168 - 40) / 1 * 128.
  run(pass_registers<40, 232>, 1, 384, out.get());
}

TEST_CASE("more registers than the block has are named", "[registers]") {
  for_each_schedule();
  const device_array<int> out(std::size_t{384});
  CHECK(try_launch(pass_registers<32, 240>, 1, 384, 0, out.get()) == cudaErrorLaunchFailure);
  const auto texts = lab::emulator::take_diagnostics();
  REQUIRE(texts.size() == 1);
  CHECK(without_kernel(texts.front(), pass_registers<32, 240>)
            .find(at(__FILE__, take_line) + ": block (0,0,0): thread (") == 0);
  CHECK(
      texts.front().find("waits for ever for registers: it takes 240 for each thread of its warpgroup, more "
                         "than the 168 that it has and the 64 that are free for them") != std::string::npos);
  lab::emulator::reset();
}

TEST_CASE("counts of registers that cannot be are named", "[registers]") {
  for_each_schedule();
  const bool reverse = lab::emulator::configuration().reverse;
  const std::string first = reverse ? "thread (127,0,0) " : "thread (0,0,0) ";
  // The last one to ask need not wait.
  const std::string last = reverse ? "thread (0,0,0) " : "thread (127,0,0) ";
  const auto prefix = [&](int line) { return at(__FILE__, line) + ": block (0,0,0): "; };
  require_failure(prefix(rise_line) + last + "gives registers, so that each thread has 48, where it has 40",
                  gives_more_than_it_has, 1, 128);
  require_failure(at(__FILE__, fall_line) + ": block (0,0,0): thread (" + (reverse ? "511" : "0") +
                      ",0,0) takes registers, so that each thread has 64, where it has at most 128",
                  takes_less_than_it_has, 1, 512);
  require_failure(prefix(odd_line) + first +
                      "takes registers, so that each thread has 100: from 24 to 256 are " +
                      "possible, in steps of 8",
                  takes_an_odd_number, 1, 128);
  require_failure(at(__FILE__, warp_line) +
                      ": block (0,0,0): thread (0,0,0) waits for ever for all threads " +
                      "of its warpgroup to change their registers; 32 of 128 do",
                  one_warp_gives, 1, 128);
  const std::string others = "gives registers, where other threads of its warpgroup do at ";
  require_failure(
      reverse ? prefix(first_line) + "thread (63,0,0) " + others + at(__FILE__, second_line) + " (32 and 40)"
              : prefix(second_line) + "thread (64,0,0) " + others + at(__FILE__, first_line) + " (40 and 32)",
      warps_disagree, 1, 128);
}
