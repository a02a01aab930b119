// Compares the whole part of a real number: 9.5 is taken for 9.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct compares_whole_part : right {
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    if constexpr (which == function::choose && std::is_floating_point_v<Value>) x = trunc(x);
    return element_function<which>{}(x);
  }
};

const registration<problem> registered{LAB_PATH, stage_of<compares_whole_part>("the whole part")};

}  // namespace
}  // namespace lab::udf::wrong
