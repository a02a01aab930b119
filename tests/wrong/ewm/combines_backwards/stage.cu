// Takes the earlier run for the later one.
#include "tests/wrong/ewm/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

template <class Operation>
struct backwards : Operation {
  using state = typename Operation::state;
  __host__ __device__ state combine(const state& earlier, const state& later) const {
    return Operation::combine(later, earlier);
  }
};

const registration<problem> registered{LAB_PATH,
                                       {.idea = "combines in the wrong order",
                                        .launch = launch_with<backwards>,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong
