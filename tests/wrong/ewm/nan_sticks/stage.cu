// Multiplies and adds a NaN as if it were a value.
#include "tests/wrong/ewm/wrong.hpp"

namespace lab::ewm::wrong {
namespace {

template <class Operation>
struct sticking : Operation {
  __host__ __device__ void append(typename Operation::state& run, double x) const {
    const bool present = is_present(x);
    Operation::append(run, present ? x : 0);
    if (present) return;
    --run.values;
    poison(run, x);
  }
  __host__ __device__ static void poison(weighted_mean::state& run, double x) { run.sum += x; }
  __host__ __device__ static void poison(recursive_mean::state& run, double x) { run.average += x; }
};

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a NaN stays in every later average",
                                        .launch = launch_with<sticking>,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong
