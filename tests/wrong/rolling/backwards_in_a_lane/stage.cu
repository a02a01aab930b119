// Combines the tiles that a lane has, where it has more than one, in the wrong order.
#include "tests/wrong/rolling/tile_totals.hpp"

namespace lab::rolling::wrong {
namespace {

struct backwards : right_totals {
  template <class State, class Operation>
  static __device__ State between(const windows::tile_messages<State>& sent, std::int64_t first,
                                  std::int64_t own, const Operation& operation) {
    const std::int64_t each = (own - first + 31) / 32;
    State all = operation.identity();
    for (std::int64_t begin = first; begin < own; begin += each) {
      State of_lane = operation.identity();
      for (std::int64_t k = begin; k < own && k < begin + each; ++k)
        of_lane = operation.combine(sent.total_of(k), of_lane);
      all = operation.combine(all, of_lane);
    }
    return all;
  }
};

const registration<problem> registered{LAB_PATH, stage_of_totals<backwards>("backwards in a lane")};

}  // namespace
}  // namespace lab::rolling::wrong
