// A maximum that one thread of a block adds nothing to, but in the first blocks.
#include "tests/wrong/reduction/leaves_out.hpp"

namespace lab::reduction::wrong {
namespace {

struct left_out {
  static bool operation(reduction::operation which) { return which == reduction::operation::maximum; }
  template <class T>
  static __device__ bool element(T /*value*/, std::int64_t i, std::int64_t n) {
    return n > block_threads && i % block_threads == 17;
  }
};

const registration<problem> registered{LAB_PATH,
                                       {.idea = "leaves a lane out",
                                        .launch = launch_and_leave_out<left_out>,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
