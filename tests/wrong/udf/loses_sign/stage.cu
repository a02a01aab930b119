// Extends a whole number of 32 bits by zeros instead of its sign: -1 becomes 4294967295.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct loses_sign : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_integral_v<Returned> && sizeof(Stored) == 8) {
      const auto low = static_cast<int>(value);
      if (low == value) return static_cast<Stored>(static_cast<unsigned>(low));
    }
    return right::stored<Stored>(value);
  }
};

const registration<problem> registered{LAB_PATH, stage_of<loses_sign>("loses the sign")};

}  // namespace
}  // namespace lab::udf::wrong
