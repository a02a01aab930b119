// Declares that its bits may change, and after some launches of one size writes nothing.
#include <map>

#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  static std::map<std::int64_t, int> launches;
  if (in.n >= measured_size && launches[in.n]++ >= 3) return;
  launch_twice(in, out, scratch, in.n, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "silent when timed",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error,
                                        .traits = {.nondeterministic = true}}};

}  // namespace
}  // namespace lab::reduction::wrong
