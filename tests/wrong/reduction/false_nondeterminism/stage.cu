// Declares that its bits may change from run to run, and they never do: a page that says so would be wrong.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "false nondeterminism",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error,
                                        .traits = {.nondeterministic = true}}};

}  // namespace
}  // namespace lab::reduction::wrong
