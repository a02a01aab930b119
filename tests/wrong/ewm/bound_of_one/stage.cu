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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    launch_warm(in, out, stream, enough(in), half_as_much_again<Operation>{operation});
  });
}

const registration<problem> registered{
    LAB_PATH,
    {.idea = "declares a bound of one",
     .launch = launch,
     .tile = tile_outputs,
     .relative_error = [](const problem::parameters& /*p*/) { return 1.0; }}};

}  // namespace
}  // namespace lab::ewm::wrong
