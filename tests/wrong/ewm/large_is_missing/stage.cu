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

const registration<problem> registered{LAB_PATH,
                                       {.idea = "what is large is missing",
                                        .launch = launch_with<large_is_missing>,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong
