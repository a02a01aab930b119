// Right, but its bound on errors is no number.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

double nothing(const problem::parameters& /*p*/) {
  return std::nan("");
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "bound of nan",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = nothing}};

}  // namespace
}  // namespace lab::reduction::wrong
