// Subtracts the limit and looks at the sign, which wraps around for the smallest numbers.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct subtracts : right {
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    if constexpr (which == function::branch && std::is_integral_v<Value>) {
      const auto over = static_cast<Value>(static_cast<unsigned long long>(x) - 9);
      x = over > 0 ? 10 : 0;
    }
    return element_function<which>{}(x);
  }
};

const registration<problem> registered{LAB_PATH, stage_of<subtracts>("subtracts to compare")};

}  // namespace
}  // namespace lab::udf::wrong
