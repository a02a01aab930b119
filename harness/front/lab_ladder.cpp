// The program `lab-ladder`, which a newcomer's first call needs: it is built in half the time.
#include "harness/front/program.hpp"
#include "harness/front/verbs/verbs.hpp"

int main(int argc, char** argv) {
  using namespace lab::front;
  static constexpr verb_maker verbs[] = {run_verb, verify_verb};
  return run_program(verbs, {argv + 1, argv + argc});
}
