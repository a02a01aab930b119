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

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a gap decays once",
                                        .launch = launch_with<gap_decays_once>,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong
