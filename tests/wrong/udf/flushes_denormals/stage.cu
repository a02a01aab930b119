// Takes a denormal for zero, and so for false.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct flushes : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_floating_point_v<Returned>) {
      if (fabs(value) < 0x1p-1022) value = 0;
    }
    return right::stored<Stored>(value);
  }
};

const registration<problem> registered{LAB_PATH, stage_of<flushes>("denormals are zero")};

}  // namespace
}  // namespace lab::udf::wrong
