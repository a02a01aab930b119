// Calls of the program, and what is expected of them.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/front/process/child_process.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"

namespace lab::test {

using strings = std::vector<std::string>;

struct outcome {
  int code;  // 1000 and the signal's number where one ended it
  std::string text;
};

inline outcome call_program(const strings& command, std::chrono::seconds limit) {
  const auto result = lab::front::run_command(command, limit);
  return {result.ending.by_signal ? 1000 + result.ending.code : result.ending.code, result.output};
}

// The same, with `options` of env in front, such as "NAME=VALUE", and `more` arguments behind.
inline outcome call_program(const strings& options, const std::string& program, const strings& arguments,
                            const strings& more, std::chrono::seconds limit) {
  strings command{"/usr/bin/env"};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(program);
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.insert(command.end(), more.begin(), more.end());
  return call_program(command, limit);
}

// It ended with `code` and said all of `words`.
inline void expect(const outcome& found, int code, const strings& words) {
  INFO(found.text);
  CHECK(found.code == code);
  for (const std::string& word : words) {
    CAPTURE(word);
    CHECK(contains(found.text, word));
  }
}

}  // namespace lab::test
