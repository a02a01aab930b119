// Deals the tiles of a window out to the lanes of a warp, and leaves the one over where each has as many.
#include "tests/wrong/rolling/tile_totals.hpp"

namespace lab::rolling::wrong {
namespace {

struct rounds_down : right_totals {
  template <class State, class Operation>
  static __device__ State between(const windows::tile_messages<State>& sent, std::int64_t first,
                                  std::int64_t own, const Operation& operation) {
    constexpr std::int64_t lanes = 32;
    const bool one_over = own - first > 1 && (own - first) % lanes == 1;
    return right_totals::between(sent, one_over ? first + 1 : first, own, operation);
  }
};

const registration<problem> registered{LAB_PATH, stage_of_totals<rounds_down>("leaves out the 33rd tile")};

}  // namespace
}  // namespace lab::rolling::wrong
