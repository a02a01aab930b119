// Takes an Inf for nothing in every fourth place of a vector.
#include "tests/wrong/reduction/leaves_out.hpp"

namespace lab::reduction::wrong {
namespace {

struct left_out {
  static bool operation(reduction::operation which) { return which == reduction::operation::sum; }
  template <class T>
  static __device__ bool element(T value, std::int64_t i, std::int64_t /*n*/) {
    return i % 4 == 3 && value == static_cast<T>(INFINITY);
  }
};

const registration<problem> registered{LAB_PATH,
                                       {.idea = "drops Inf",
                                        .launch = launch_and_leave_out<left_out>,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
