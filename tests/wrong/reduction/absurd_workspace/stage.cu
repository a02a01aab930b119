// Right, but asks for more scratch memory than there is wherever there are values.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

std::size_t absurd_bytes(const problem::parameters& p) {
  return p.n > 1 ? std::size_t{1} << 60 : max_blocks * sizeof(double);
}

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  launch_twice(in, out, scratch, in.n, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "absurd workspace",
                                        .launch = launch,
                                        .workspace_bytes = absurd_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
