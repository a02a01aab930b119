// Ends the process when asked whether it can run.
#include <cstdlib>
#include <string>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

std::string unsupported(const problem::parameters&) {
  std::exit(3);
}

const registration<problem> registered{
    LAB_PATH, {.idea = "exits_in_unsupported", .launch = launch_right, .unsupported = unsupported}};

}  // namespace
}  // namespace lab::elementwise::hostile
