// Leaves the first value out of every window that begins with it.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct shortens_first_windows : right {
  __device__ static long long first_of(long long i, long long window) {
    return i + 1 < window ? 1 : right::first_of(i, window);
  }
};

const registration<problem> registered{LAB_PATH,
                                       stage_of<shortens_first_windows>("shortens the first windows")};

}  // namespace
}  // namespace lab::udf::wrong
