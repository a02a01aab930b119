// Works on pairs, and forgets the value that an odd n leaves over.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

void launch_pairs(const input& in, const output& out, workspace /*scratch*/, cudaStream_t stream) {
  launch_over_outputs<right>(in, out, stream, in.n / 2 * 2);
}

const registration<problem> registered{LAB_PATH,
                                       {.idea = "drops an odd value",
                                        .launch = launch_pairs,
                                        .tile = block_threads,
                                        .owner_of = consecutive_owner<block_threads, 1>}};

}  // namespace
}  // namespace lab::udf::wrong
