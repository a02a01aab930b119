// Reads a whole number of 64 bits as an int.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct reads_as_int : right {
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    if constexpr (std::is_integral_v<Value>)
      return right::of_element<which>(static_cast<Value>(static_cast<int>(x)));
    return right::of_element<which>(x);
  }
};

const registration<problem> registered{LAB_PATH, stage_of<reads_as_int>("reads values as int")};

}  // namespace
}  // namespace lab::udf::wrong
