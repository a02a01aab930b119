// Rounds a real number to the nearest whole one, where a conversion cuts its fraction off.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct rounds_to_nearest : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_same_v<Stored, std::int64_t> && std::is_floating_point_v<Returned>)
      return static_cast<Stored>(rint(value));
    return right::stored<Stored>(value);
  }
};

const registration<problem> registered{LAB_PATH, stage_of<rounds_to_nearest>("rounds to nearest")};

}  // namespace
}  // namespace lab::udf::wrong
