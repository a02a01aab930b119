// Never reaches main.
#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

volatile bool waits = true;
const bool waited = [] {
  while (waits) {
  }
  return true;
}();

const registration<problem> registered{LAB_PATH, {.idea = "hangs_at_start", .launch = launch_right}};

}  // namespace
}  // namespace lab::elementwise::hostile
