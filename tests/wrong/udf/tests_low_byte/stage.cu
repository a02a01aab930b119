// Makes a bool of the lowest byte of a whole number: 256 is false.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct tests_low_byte : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_integral_v<Returned> && sizeof(Stored) == 1)
      return static_cast<unsigned char>(value) != 0;
    return right::stored<Stored>(value);
  }
};

const registration<problem> registered{LAB_PATH, stage_of<tests_low_byte>("tests the lowest byte")};

}  // namespace
}  // namespace lab::udf::wrong
