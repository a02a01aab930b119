// Has an idea that is no text.
#include "tests/hostile/elementwise/right.hpp"

namespace lab::elementwise::hostile {
namespace {

const registration<problem> registered{LAB_PATH, {.idea = nullptr, .launch = launch_right}};

}  // namespace
}  // namespace lab::elementwise::hostile
