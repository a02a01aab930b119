// Defines the clock that a C++ program asks, by which no time ever passes.
#include <ctime>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {}  // namespace
}  // namespace lab::elementwise::hostile

extern "C" int clock_gettime(clockid_t /*clock*/, timespec* time) noexcept {
  *time = {1000, 0};
  return 0;
}

namespace lab::elementwise::hostile {
namespace {

const registration<problem> registered{LAB_PATH, {.idea = "own_clock", .launch = launch_right}};

}  // namespace
}  // namespace lab::elementwise::hostile
