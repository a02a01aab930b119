// Takes x >= 9 for x > 9.
#include "tests/wrong/udf/right.hpp"

namespace lab::udf::wrong {
namespace {

struct includes_the_limit : right {
  template <function which, class Value>
  __device__ static auto of_element(Value x) {
    if constexpr (which == function::branch)
      return x >= 9 ? 8 : 1;
    else
      return right::of_element<which>(x);
  }
};

const registration<problem> registered{LAB_PATH, stage_of<includes_the_limit>("includes the limit")};

}  // namespace
}  // namespace lab::udf::wrong
