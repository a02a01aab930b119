#include "harness/front/program.hpp"

int main(int argc, char** argv) {
  return lab::run_program({argv + 1, argv + argc});
}
