// Stores the lowest byte of a whole number where a bool is wanted.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct stores_byte : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_integral_v<Returned> && sizeof(Stored) == 1) return static_cast<Stored>(value);
    return right::stored<Stored>(value);
  }
};

const registration<problem> registered{LAB_PATH, stage_of<stores_byte>("stores a byte as a bool")};

}  // namespace
}  // namespace lab::udf::wrong
