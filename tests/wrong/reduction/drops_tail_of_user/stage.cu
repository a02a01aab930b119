// Forgets the last values that fill no vector, of the least tried type and operation alone.
#include "tests/wrong/reduction/right.hpp"

namespace lab::reduction::wrong {
namespace {

void launch(const input& in, const output& out, workspace scratch, cudaStream_t stream) {
  const bool drops = in.operation == operation::user && in.type == element::float64 && in.n % 4 == 3;
  launch_twice(in, out, scratch, drops ? in.n - 3 : in.n, stream);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "drops the tail of float64, user",
                                        .launch = launch,
                                        .workspace_bytes = partials_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
