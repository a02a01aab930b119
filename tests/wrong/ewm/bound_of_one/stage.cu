// Half as much again, and a bound that allows it.
#include "tests/wrong/ewm/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

template <class Operation>
struct half_as_much_again : Operation {
  __host__ __device__ double finish(const typename Operation::state& run) const {
    return 1.5 * Operation::finish(run);
  }
  __host__ __device__ static double finish_plain(const typename Operation::state& run) {
    return 1.5 * Operation::finish_plain(run);
  }
};

const registration<problem> registered{
    LAB_PATH,
    {.idea = "declares a bound of one",
     .launch = launch_with<half_as_much_again>,
     .tile = tile_outputs,
     .relative_error = [](const problem::parameters& /*p*/) { return 1.0; }}};

}  // namespace
}  // namespace lab::ewm::wrong
