// Overlooks a gap of one position at the end of two tiles that have no other.
#include "tests/wrong/ewm/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

template <class Operation>
struct border_has_no_gap : Operation {
  using state = typename Operation::state;
  __host__ __device__ state combine(const state& earlier, const state& later) const {
    state run = Operation::combine(earlier, later);
    if (run.values == 2 * tile_outputs - 1 && run.trail == this->decay) run.trail = 1;
    return run;
  }
};

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a gap at a border is overlooked",
                                        .launch = launch_with<border_has_no_gap>,
                                        .tile = tile_outputs}};

}  // namespace
}  // namespace lab::ewm::wrong
