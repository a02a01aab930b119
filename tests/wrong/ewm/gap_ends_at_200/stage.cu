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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    launch_warm(in, out, stream, enough(in), gap_ends<Operation>{operation});
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a gap ends at 200", .launch = launch, .tile = tile_outputs}};

}  // namespace
}  // namespace lab::ewm::wrong
