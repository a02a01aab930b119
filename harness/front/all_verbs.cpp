#include "harness/front/program.hpp"
#include "harness/front/verbs/verbs.hpp"

namespace lab::front {

std::span<const verb_maker> verbs_of_program() {
  static constexpr verb_maker verbs[] = {describe_verb,  run_verb,     verify_verb,         bench_verb,
                                         apply_verb,     profile_verb, draw_verb,           trace_verb,
                                         translate_verb, emulate_verb, compare_verb,        new_verb,
                                         check_verb,     grade_verb,   student_edition_verb};
  return verbs;
}

}  // namespace lab::front
