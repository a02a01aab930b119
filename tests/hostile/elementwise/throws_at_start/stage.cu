// Throws before main, where nothing can catch it.
#include <stdexcept>

#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

const bool thrown = []() -> bool { throw std::runtime_error("thrown before main"); }();

const registration<problem> registered{LAB_PATH, {.idea = "throws_at_start", .launch = launch_right}};

}  // namespace
}  // namespace lab::elementwise::hostile
