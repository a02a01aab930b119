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

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  with_operation(in, [&]<class Operation>(const Operation& operation) {
    launch_warm(in, out, stream, enough(in), sticking<Operation>{operation});
  });
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a NaN stays in every later average",
                                        .launch = launch,
                                        .tile = tile_outputs,
                                        .owner_of = consecutive_owner<tile_outputs, per_thread>}};

}  // namespace
}  // namespace lab::ewm::wrong
