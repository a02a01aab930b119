// Squares a whole number as a double, which holds 53 bits of it.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct squares_as_double : right {
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    if constexpr (which == function::square) {
      return static_cast<Value>(static_cast<double>(x) * static_cast<double>(x));
    } else {
      return right::of_element<which>(x);
    }
  }
};

const registration<problem> registered{LAB_PATH, stage_of<squares_as_double>("squares by way of a double")};

}  // namespace
}  // namespace lab::udf::wrong
