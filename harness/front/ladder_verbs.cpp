#include "harness/front/program.hpp"
#include "harness/front/verbs/verbs.hpp"

namespace lab::front {

std::span<const verb_maker> verbs_of_program() {
  static constexpr verb_maker verbs[] = {run_verb, verify_verb};
  return verbs;
}

}  // namespace lab::front
