// Ends the process before main, as if all were well.
#include <unistd.h>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

const bool ended = [] {
  _exit(0);
  return true;
}();

const registration<problem> registered{LAB_PATH, {.idea = "exits_at_start", .launch = launch_right}};

}  // namespace
}  // namespace lab::elementwise::hostile
