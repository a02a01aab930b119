// Is right, and asks for more scratch memory than there is.
#include "tests/wrong/upper_case/right.hpp"

namespace lab::upper_case::wrong {
namespace {

stage<problem> absurd() {
  stage<problem> made = as_stage<right_body>("asks for an absurd workspace");
  made.workspace_bytes = [](const column_parameters&) { return ~std::size_t{0}; };
  return made;
}

const registration<problem> registered{LAB_PATH, absurd()};

}  // namespace
}  // namespace lab::upper_case::wrong
