#include <unistd.h>

#include <csignal>

#include "harness/front/process/errors.hpp"
#include "harness/front/program.hpp"

namespace {

// Ctrl-C before run_program() has a better answer, while libraries and this program's own objects are set up.
[[gnu::constructor(101)]] void expect_interrupts() {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal_number, [](int) { _exit(lab::front::exit_interrupted); });
}

}  // namespace

int main(int argc, char** argv) {
  return lab::front::run_program(lab::front::verbs_of_program(), {argv + 1, argv + argc});
}
