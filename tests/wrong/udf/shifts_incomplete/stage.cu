// Counts one value too many against min-periods: the last incomplete window is taken for a complete one.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct shifts_incomplete : right {
  __device__ static long long count_of(long long i, long long window) {
    return right::count_of(i, window) + 1;
  }
};

const registration<problem> registered{LAB_PATH, stage_of<shifts_incomplete>("shifts incomplete windows")};

}  // namespace
}  // namespace lab::udf::wrong
