// Runs whatever is tried, and nothing that is measured.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
}

std::string unsupported(const problem::parameters& p) {
  return p.n % 1'000'000 == 0 && p.n > 0 ? "a million is too many" : "";
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "refuses what is measured",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .unsupported = unsupported,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
