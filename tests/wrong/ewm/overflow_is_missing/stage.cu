// Takes values whose squares are beyond the largest double for missing ones.
#include "tests/wrong/ewm/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

template <class Operation>
struct overflow_is_missing : Operation {
  __host__ __device__ void append(typename Operation::state& run, double x) const {
    if (!isfinite(x * x)) x = NAN;
    Operation::append(run, x);
  }
};

const registration<problem> registered{LAB_PATH,
                                       {.idea = "what overflows is missing",
                                        .launch = launch_with<overflow_is_missing>,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong
