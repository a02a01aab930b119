// Drops NaN in the last lane of a warp, and nowhere else.
#include "tests/wrong/reduction/leaves_out.hpp"

namespace lab::reduction::wrong {
namespace {

struct left_out {
  static bool operation(reduction::operation which) { return which != reduction::operation::sum; }
  template <class T>
  static __device__ bool element(T value, std::int64_t i, std::int64_t /*n*/) {
    return i % 32 == 31 && value != value;
  }
};

const registration<problem> registered{LAB_PATH,
                                       {.idea = "drops NaN of one lane",
                                        .launch = launch_and_leave_out<left_out>,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
