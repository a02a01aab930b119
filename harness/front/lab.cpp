// The program `lab`, with all verbs in the order in which the help shows them.
#include "harness/front/program.hpp"
#include "harness/front/verbs/verbs.hpp"

int main(int argc, char** argv) {
  using namespace lab::front;
  static constexpr verb_maker verbs[] = {describe_verb,  run_verb,     verify_verb,         bench_verb,
                                         apply_verb,     profile_verb, draw_verb,           trace_verb,
                                         translate_verb, emulate_verb, compare_verb,        new_verb,
                                         check_verb,     grade_verb,   student_edition_verb};
  return run_program(verbs, {argv + 1, argv + argc});
}
