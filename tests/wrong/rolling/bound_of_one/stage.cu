// Half as much again for a deviation, and a bound that allows it.
#include "tests/wrong/rolling/right.hpp"

namespace lab::rolling::wrong {
namespace {

struct half_as_much_again {
  template <class Operation>
  static __device__ double output(const task<Operation>& task) {
    const double right = task.right();
    return std::is_same_v<Operation, windows::moments> ? 1.5 * right : right;
  }
};

void launch(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<half_as_much_again>(in, out, stream);
}

double bound_of_one(const problem::parameters& p) {
  return problem::is_exact(p) ? problem::relative_error(p) : 1;
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "declares a bound of one",
                                        .launch = launch,
                                        .tile = block_threads,
                                        .relative_error = bound_of_one}};

}  // namespace
}  // namespace lab::rolling::wrong
