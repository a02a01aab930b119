// Lets what is before a gap decay over 200 positions at most.
#include "tests/wrong/ewm/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

template <class Operation>
struct gap_ends : Operation {
  using state = typename Operation::state;
  __host__ __device__ state combine(const state& earlier, const state& later) const {
    state run = Operation::combine(earlier, later);
    const double least = pow(this->decay, 200);
    if (run.trail < least) run.trail = least;
    return run;
  }
};

const registration<problem> registered{
    LAB_PATH, {.idea = "a gap ends at 200", .launch = launch_with<gap_ends>, .tile = tile_outputs}};

}  // namespace
}  // namespace lab::ewm::wrong
