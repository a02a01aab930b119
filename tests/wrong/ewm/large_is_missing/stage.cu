// Takes values beyond 1e17 for missing ones.
#include "tests/wrong/ewm/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

template <class Operation>
struct large_is_missing : Operation {
  __host__ __device__ void append(typename Operation::state& run, double x) const {
    if (x > 1e17 || x < -1e17) x = NAN;
    Operation::append(run, x);
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    launch_warm(in, out, stream, enough(in), large_is_missing<Operation>{operation});
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "what is large is missing",
                                        .launch = launch,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong
