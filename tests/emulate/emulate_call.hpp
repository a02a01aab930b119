// A call of `lab emulate`, as a person makes it, and what is expected of it.
#pragma once

#include <chrono>
#include <string>

#include "tests/call_program.hpp"
#include "tests/catch.hpp"
#include "tests/files.hpp"
#include "tests/temporary_directory.hpp"

namespace lab::test {

inline outcome emulate(const strings& arguments) {
  return call_program({}, LAB_PROGRAM, {"emulate"}, arguments, std::chrono::seconds(600));
}

inline void expect(const outcome& found, int code, const strings& words) {
  INFO(found.text);
  CHECK(found.code == code);
  for (const std::string& word : words) {
    CAPTURE(word);
    CHECK(found.text.find(word) != std::string::npos);
  }
}

}  // namespace lab::test
