// Leaves the first value out of windows of more than 60 values.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct cuts_long_windows : right {
  __device__ static long long first_of(long long i, long long window) {
    return right::first_of(i, window) + (window > 60 && i >= window ? 1 : 0);
  }
};

const registration<problem> registered{LAB_PATH, stage_of<cuts_long_windows>("cuts long windows")};

}  // namespace
}  // namespace lab::udf::wrong
