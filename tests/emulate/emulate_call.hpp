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

// The object of a source, which is compiled once for several runs: `lab emulate` runs it as it does the
// source.
inline std::string compiled(const strings& options, const std::string& source) {
  std::string object = source;
  for (const std::string& option : options) object += option;
  object += ".o";
  strings words{source, "-c", "-o", object};
  words.insert(words.begin(), options.begin(), options.end());
  expect(emulate(words), 0, {});
  return object;
}

}  // namespace lab::test
