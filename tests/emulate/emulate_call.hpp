// A call of `lab emulate`, as a person makes it.
#pragma once

#include <chrono>
#include <string>

#include "tests/call_program.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace lab::test {

inline outcome emulate(const strings& arguments) {
  return call_program({}, LAB_PROGRAM, {"emulate"}, arguments, std::chrono::seconds(600));
}

}  // namespace lab::test
