// Each block goes through one long stripe. The suffixes of the last window stay in a ring in shared memory,
// so every value is read once and scanned once in each direction (common/windows/ring.hpp). For the mean,
// moving_average/07_ring is this kernel. The ring holds one state per value. The state of var and std is
// three numbers, so their windows may be only a third as long.
#include "common/windows/ring.hpp"
#include "stages/rolling/operations.hpp"

namespace lab::rolling::ring {
namespace {

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&](const auto& operation) {
    windows::launch_ring(operation, in.values, out.results, in.n, in.window, in.min_periods, stream);
  });
}

std::string unsupported(const problem::parameters& p) {
  if (p.expression) return needs_whole_windows;
  const input in = problem::bind_input(p, nullptr);
  std::string why;
  with_operation(
      in, [&]<class Operation>(const Operation&) { why = windows::ring<Operation>::too_long(in.window); });
  return why;
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "one long stripe per block; the last window's suffixes stay in a ring",
     .launch = launch,
     .unsupported = unsupported,
     .tile = windows::ring<windows::total>::tile}};

}  // namespace
}  // namespace lab::rolling::ring
