// Right, but refuses most of what is tried.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

std::string why_not(const problem::parameters& p) {
  return p.n > 40 ? "too many values" : "";
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "refuses most",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .unsupported = why_not,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
