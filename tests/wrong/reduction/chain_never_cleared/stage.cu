// Takes what the launch before has left in scratch memory for what an earlier block of this one has written.
#include "tests/wrong/reduction/chain.hpp"

namespace lab::reduction::wrong {
namespace {

const registration<problem> registered{LAB_PATH,
                                       {.idea = "flags of the launch before",
                                        .launch = launch_chain<false>,
                                        .workspace_bytes = links_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
