// Never reaches main.
#include <unistd.h>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

const bool waiting = [] {
  for (;;) pause();
  return true;
}();

const registration<problem> registered{LAB_PATH, {.idea = "hangs_at_start", .launch = launch_right}};

}  // namespace
}  // namespace lab::elementwise::hostile
