// Makes false of a NaN, which is not zero and so is true.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct nan_is_false : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (sizeof(Stored) == 1 && std::is_floating_point_v<Returned>) {
      if (value != value) return 0;
    }
    return right::stored<Stored>(value);
  }
};

const registration<problem> registered{LAB_PATH, stage_of<nan_is_false>("NaN is false")};

}  // namespace
}  // namespace lab::udf::wrong
