// Keeps 32 bits of a whole number, and fills the rest with zeros: 2 to the power of 32 becomes 0.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct cuts_to_32_bits : right {
  template <class Stored, class Returned>
  __device__ static Stored stored(Returned value) {
    if constexpr (std::is_integral_v<Returned> && sizeof(Stored) == 8)
      return static_cast<Stored>(static_cast<unsigned>(value));
    return right::stored<Stored>(value);
  }
};

const registration<problem> registered{LAB_PATH, stage_of<cuts_to_32_bits>("cuts to 32 bits")};

}  // namespace
}  // namespace lab::udf::wrong
