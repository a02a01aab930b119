// Right, but says that a block computes no output at all.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "absurd tile",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = 0,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
