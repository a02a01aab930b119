// Right: the twin of chain_never_cleared, whose blocks wait for earlier ones as well.
#include "tests/wrong/reduction/chain.hpp"

namespace lab::reduction::wrong {
namespace {

const registration<problem> registered{LAB_PATH,
                                       {.idea = "a chain, right",
                                        .launch = launch_chain<true>,
                                        .workspace_bytes = links_bytes,
                                        .tile = block_threads,
                                        .relative_error = relative_error}};

}  // namespace
}  // namespace lab::reduction::wrong
