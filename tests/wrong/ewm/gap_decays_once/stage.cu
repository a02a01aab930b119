// Lets a gap of several values that are missing decay older weights as one would.
#include "tests/wrong/ewm/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

template <class Operation>
struct gap_decays_once : Operation {
  __host__ __device__ void append(typename Operation::state& run, double x) const {
    if (is_present(x) && run.trail < this->decay * this->decay) run.trail = this->decay;
    Operation::append(run, x);
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    launch_warm(in, out, stream, enough(in), gap_decays_once<Operation>{operation});
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a gap decays once",
                                        .launch = launch,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong
